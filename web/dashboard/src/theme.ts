import { createTheme } from '@mantine/core'

export const theme = createTheme({
  primaryColor: 'blue',
  // Darker than usual: white on it, and it on white, are easy enough to read (WCAG AA).
  primaryShade: { light: 8, dark: 8 },
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace',
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    Table: { defaultProps: { verticalSpacing: 'sm', highlightOnHover: true } },
    Modal: { defaultProps: { closeButtonProps: { 'aria-label': 'Close' } } },
    // It can be scrolled without a mouse, too.
    TableScrollContainer: { defaultProps: { scrollAreaProps: { viewportProps: { tabIndex: 0 } } } },
    Notification: { defaultProps: { closeButtonProps: { 'aria-label': 'Close' } } },
    // As tall as its words need, instead of cutting them.
    Badge: {
      styles: {
        root: { height: 'auto', minHeight: 'var(--badge-height)' },
        label: { whiteSpace: 'normal', overflow: 'visible' },
      },
    },
    // An operator's question may be a URL, or another word that is wider than a phone.
    InputWrapper: { styles: { label: { overflowWrap: 'anywhere' } } },
    // A pasted list may have one entry per line.
    TagsInput: { defaultProps: { splitChars: [',', '\n'] } },
    Paper: { defaultProps: { withBorder: true, p: 'md' } },
  },
})
