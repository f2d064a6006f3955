/** A text from another service may not forge lines of this service's log. */
export const oneLine = (failure: { readonly message: unknown }) =>
  String(failure.message).replace(/\s*[\r\n]+\s*/g, " ")
