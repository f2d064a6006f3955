import type { LoopTrouble } from "./Loops.ts"

/**
 * The check `loops` of the readiness (docs/reference/admin.md#readiness): not ok while a loop is late. The detail names
 * the loops that are late or fail, and has the remarks by loop; it is empty when there are none. `now` is Unix
 * milliseconds.
 */
export const loopHealth = (
  troubles: ReadonlyArray<LoopTrouble>,
  remarks: ReadonlyMap<string, string>,
  now: number
): { readonly ok: boolean; readonly detail: string } => ({
  ok: troubles.every(({ lateMs }) => lateMs === 0),
  detail: [
    ...troubles.map((trouble) => describeTrouble(trouble, now)),
    ...Array.from(remarks, ([name, text]) => `${name}: ${text}`)
  ].join("; ")
})

const describeTrouble = ({ error, failingSince, failures, lateMs, name }: LoopTrouble, now: number): string => {
  const late = lateMs === 0 ? "" : ` has not turned for ${Math.floor(lateMs / 1_000)} s`
  if (failingSince === undefined) return `${name}${late}`
  const rounds = failures === 1 ? "1 round" : `${failures} rounds`
  return `${name}${late && `${late},`} fails for ${Math.floor((now - failingSince) / 1_000)} s (${rounds}): ${error}`
}
