/** A text of a template run in pieces: every second piece, from the second on, names what a copy has in its place. */
export type Pieces = ReadonlyArray<string>

export interface TemplateRun {
  readonly runId: string
  /** Its first and last place in the log. */
  readonly firstSeq: number
  readonly lastSeq: number
  /** Unix milliseconds of its creation. */
  readonly createdAt: number
}

const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g
/** Places of the log in a JSON text; whatever the key is, its name ends like that. */
const SEQ = /("\w*[sS]eq":)(\d+)/g
const EVENT_ID = /^(\{"id":")([0-9a-f-]{36})(")/
/** No text of JSON holds it. */
const CUT = "\u0001"

const mark = (kind: string, value: number | string) => `${CUT}${kind}${value}${CUT}`

/**
 * Cuts a text where a copy of the run differs: `R` its id, `S<n>` its n-th place in the log (from 0), `T<ms>` so long
 * after its creation, `U` any UUID.
 */
export const piecesOf = ({ createdAt, firstSeq, lastSeq, runId }: TemplateRun, text: string): Pieces =>
  text
    .replace(EVENT_ID, (_, before: string, __, after: string) => `${before}${mark("U", "")}${after}`)
    .replaceAll(runId, mark("R", ""))
    .replace(SEQ, (whole, key: string, digits: string) => {
      const seq = Number(digits)
      return seq < firstSeq || seq > lastSeq ? whole : `${key}${mark("S", seq - firstSeq)}`
    })
    .replace(TIME, (time) => mark("T", Date.parse(time) - createdAt))
    .split(CUT)
