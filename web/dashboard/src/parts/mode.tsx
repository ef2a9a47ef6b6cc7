import { Alert, Anchor, Switch, type SwitchProps } from '@mantine/core'
import { useMode, useSetMode } from '../lib/mode.ts'

/** For the whole dashboard. */
export function ModeSwitch(props: SwitchProps) {
  const mode = useMode()
  const setMode = useSetMode()
  return (
    <Switch
      label="Test data"
      color="orange.9"
      checked={mode === 'test'}
      onChange={(event) => setMode(event.currentTarget.checked ? 'test' : 'live')}
      {...props}
    />
  )
}

/** What a page has of both: `live` has no test data, whatever is chosen. */
export type Traffic = 'both' | 'live'

/** On every page with traffic, while test data is chosen. */
export function ModeSign({ traffic }: { traffic: Traffic }) {
  const mode = useMode()
  const setMode = useSetMode()
  if (mode === 'live') return null
  const back = (
    <Anchor component="button" type="button" c="inherit" inherit underline="always" onClick={() => setMode('live')}>
      Show live data
    </Anchor>
  )
  return (
    <Alert color={traffic === 'both' ? 'orange' : 'gray'} mb="md" py="xs" role="status">
      {traffic === 'both' ? (
        <>
          <b>Test data.</b> This page shows the activity of test keys. No money is involved. {back}
        </>
      ) : (
        <>
          <b>Live data.</b> This page counts live traffic only; test traffic is excluded. {back}
        </>
      )}
    </Alert>
  )
}
