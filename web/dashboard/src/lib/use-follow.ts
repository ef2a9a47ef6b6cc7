import type { UseFormReturnType } from '@mantine/form'
import { useEffect, useRef } from 'react'

/** Shows what became of something meanwhile, such as in another tab. What is being edited here stays as it is. */
export function useFollow<V extends Record<string, unknown>>(form: UseFormReturnType<V>, values: V): void {
  const text = JSON.stringify(values)
  const seen = useRef(text)
  useEffect(() => {
    if (seen.current === text) return
    seen.current = text
    const edited = Object.fromEntries(Object.entries(form.getValues()).filter(([name]) => form.isDirty(name)))
    form.setInitialValues(values)
    form.resetDirty(values)
    form.setValues({ ...values, ...(edited as Partial<V>) })
  }, [text])
}
