import type { CanonicalEvent, RunMetrics, RunState } from "@runplane/domain"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { padToWidth } from "../TextWidth.ts"
import { narrate } from "./Narration.ts"
import { describeOutcome, seconds, type Told } from "./Outcome.ts"

/** How text is drawn: with colours on a terminal, without them into a file or a pipe. */
export interface Style {
  readonly bold: (text: string) => string
  readonly dim: (text: string) => string
}

const escaped = (on: number, off: number) => (text: string) => `\u001b[${on}m${text}\u001b[${off}m`
const same = (text: string) => text

/** https://no-color.org is respected. */
export const styleFor = (
  stream: { readonly isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>>
): Style =>
  stream.isTTY === true && (env["NO_COLOR"] ?? "") === ""
    ? { bold: escaped(1, 22), dim: escaped(2, 22) }
    : { bold: same, dim: same }

const HEADING_WIDTH = 16
const WHO_WIDTH = 20

/** A heading and what belongs to it, on one line. */
export const row = (heading: string, text: string) => `  ${padToWidth(heading, HEADING_WIDTH)} ${text}`

/** Prints an event as a line, with the seconds since the first one. */
export const makeEventPrinter = ({ bold, dim }: Style) => {
  let first: number | undefined
  return (event: CanonicalEvent) =>
    Effect.suspend(() => {
      const at = Date.parse(event.ts)
      first ??= at
      const line = narrate(event)
      if (line === undefined) return Effect.void
      const draw = { high: bold, normal: same, low: dim }[line.weight]
      const time = `${seconds(at - first).padStart(6)} s`
      return Console.log(`${dim(time)}  ${padToWidth(line.who, WHO_WIDTH)} ${draw(line.what)}`)
    })
}

/** Notes the events of a story as they are told: when it began, and how many there were until the run had ended. */
export const makeStoryBounds = () => {
  let begunAt = ""
  let events = 0
  let hasEnded = false
  return {
    note: ({ ts, type }: Pick<CanonicalEvent, "ts" | "type">) => {
      begunAt ||= ts
      if (hasEnded) return
      events += 1
      hasEnded = ENDS.has(type)
    },
    get: (): Omit<Told, "why"> => ({ begunAt, events })
  }
}

const ENDS: ReadonlySet<CanonicalEvent["type"]> = new Set(["run.completed", "run.failed", "run.cancelled"])

/** How a run ended, and why as far as that is known, under its heading. */
export const outcomeText = (state: RunState, metrics: RunMetrics, { bold }: Style, told?: Told): string =>
  [bold("Outcome"), ...describeOutcome(state, metrics, told).map(([heading, text]) => row(heading, text))].join("\n")
