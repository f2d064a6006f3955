import type { ShadowSeat } from "./ShadowInRun.ts"

/** Shadows of one committee that have figures: the first ones that are added. */
export const MAX_TRIED_SHADOWS = 8

/** What is known of each shadow of a committee, by its name. */
export interface TriedShadows<A> {
  readonly kept: Map<string, { readonly shadow: ShadowSeat; readonly sums: A }>
  /** Names of all shadows, also of those beyond `MAX_TRIED_SHADOWS`. */
  readonly names: Set<string>
}

export const noShadows = <A>(): TriedShadows<A> => ({ kept: new Map(), names: new Set() })

/** The sums of a shadow, made with its first run; undefined for one that has no figures. */
export const sumsOfShadow = <A>(
  { kept, names }: TriedShadows<A>,
  { agent, as, shadow }: ShadowSeat,
  make: () => A
): A | undefined => {
  names.add(shadow)
  const known = kept.get(shadow)
  if (known !== undefined) return known.sums
  if (kept.size >= MAX_TRIED_SHADOWS) return undefined
  const sums = make()
  kept.set(shadow, { shadow: { shadow, as, agent }, sums })
  return sums
}

/** The shadows by name, and how many have no figures. */
export const shadowsOf = <A>({ kept, names }: TriedShadows<A>) => ({
  shadows: [...kept.values()].toSorted((one, other) => (one.shadow.shadow < other.shadow.shadow ? -1 : 1)),
  leftOut: names.size - kept.size
})
