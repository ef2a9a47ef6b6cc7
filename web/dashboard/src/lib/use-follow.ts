import type { UseFormReturnType } from '@mantine/form'
import { useEffect, useRef } from 'react'

/** Shows what is saved when it changes. What is being edited here stays as it is. Undefined: not now. */
export function useFollow<V extends Record<string, unknown>>(form: UseFormReturnType<V>, values: V | undefined): void {
  const text = JSON.stringify(values)
  const seen = useRef(text)
  useEffect(() => {
    if (values === undefined || seen.current === text) return
    seen.current = text
    const edited = Object.fromEntries(Object.entries(form.getValues()).filter(([name]) => form.isDirty(name)))
    form.setInitialValues(values)
    form.resetDirty(values)
    form.setValues({ ...values, ...(edited as Partial<V>) })
  }, [text])
}
