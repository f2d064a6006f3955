/** Parts of an `Accept` header that are looked at. */
const MAX_RANGES = 50

/**
 * The form that a caller likes best by its `Accept` header; the first one when none is named, or none of them is
 * wanted.
 */
export const preferred = <F extends string>(
  forms: readonly [F, ...ReadonlyArray<F>],
  accept: string | undefined
): F => {
  const ranges = (accept ?? "").split(",", MAX_RANGES).map(readRange)
  let [best] = forms
  let most = 0
  for (const form of forms) {
    const quality = qualityOf(form, ranges)
    if (quality > most) [best, most] = [form, quality]
  }
  return best
}

interface MediaRange {
  readonly type: string
  readonly quality: number
}

const readRange = (text: string): MediaRange => {
  const [type = "", ...parameters] = text.split(";").map((part) => part.trim().toLowerCase())
  const stated = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2)
  const quality = stated === undefined ? 1 : Number(stated)
  return { type, quality: quality >= 0 && quality <= 1 ? quality : 0 }
}

/** What the most exact range says of a form. */
const qualityOf = (form: string, ranges: ReadonlyArray<MediaRange>): number => {
  const [kind = ""] = form.split("/")
  for (const type of [form, `${kind}/*`, "*/*"]) {
    const range = ranges.find((one) => one.type === type)
    if (range !== undefined) return range.quality
  }
  return 0
}
