// Elements without a framework. Text is always set as text: nothing from an offer or an address is ever read as HTML.
type Child = Node | string | null | false
type Props = Record<string, string | boolean | null | ((event: Event) => void)>

/** `class`, `onclick` and attributes; false and null leave an attribute out. */
export function h<T extends keyof HTMLElementTagNameMap>(
  tag: T,
  props: Props,
  ...children: Child[]
): HTMLElementTagNameMap[T] {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(props)) {
    if (typeof value === 'function') element.addEventListener(name.slice(2), value)
    else if (value !== null && value !== false) element.setAttribute(name, value === true ? '' : value)
  }
  element.append(...children.filter((child): child is Node | string => child !== null && child !== false))
  return element
}

/** Created when first needed. */
export const lazy = <T>(create: () => T) => {
  let made: T | undefined
  return () => (made ??= create())
}

/** What need not be there when the page is first seen. */
export const afterPaint = (work: () => void) => requestAnimationFrame(() => setTimeout(work))

export const replace = (element: Element, ...children: Child[]) =>
  element.replaceChildren(...children.filter((child): child is Node | string => child !== null && child !== false))

/** An image that leaves no broken frame behind. */
export function picture(source: string | null, className: string): HTMLElement {
  const fallback = () => h('span', { class: `${className} blank`, 'aria-hidden': 'true' })
  if (!source) return fallback()
  const image = h('img', { class: className, src: source, alt: '', loading: 'lazy', referrerpolicy: 'no-referrer' })
  image.addEventListener('error', () => image.replaceWith(fallback()))
  return image
}
