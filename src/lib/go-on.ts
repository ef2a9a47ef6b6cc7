/** Goes on with a value: at once where it is there, which is nearly always, without the turn that a promise takes. */
export function goOn<T, R>(value: T | Promise<T>, next: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then(next) : next(value)
}
