import {
  type CanonicalEvent,
  isDiscoveredRun,
  narrativeClock,
  noSubjects,
  sentenceOf,
  sentenceText,
  subjectName,
  type TimedRun,
  withSubject
} from "@runplane/domain"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { padToWidth } from "../TextWidth.ts"
import { describeOutcome, seconds } from "./Outcome.ts"
import { because, plainText } from "./PlainText.ts"
import type { RunOutcome } from "./RunOutcome.ts"

/** One line of the narrative of a run on a terminal. */
export interface Line {
  readonly who: string
  readonly what: string
  /** Bold, plain or dim. */
  readonly weight: "high" | "normal" | "low"
}

/** The line of an event; undefined without a sentence of its own. `about` names the subject of an answer. */
export const lineOf = (event: CanonicalEvent, about?: string): Line | undefined => {
  const sentence = sentenceOf(event, about)
  if (sentence === undefined || sentence.weight === "repeated") return undefined
  const { weight, who } = sentence
  return { who: plainText(who), what: plainText(sentenceText(sentence, because)), weight }
}

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

/**
 * Prints an event as a line, with the seconds since the zero of its narrative: that of the run's record, or the first
 * event where the caller has no record. The narrative of a discovered session begins with its opening, which the log
 * has behind the creation of the run and behind signals of the time before.
 */
export const makeEventPrinter = ({ bold, dim }: Style, run?: TimedRun) => {
  let clock = run && narrativeClock(run)
  const buffered: Array<CanonicalEvent> = []
  let subjects = noSubjects
  let isBuffering = run !== undefined && isDiscoveredRun(run)
  const print = (event: CanonicalEvent) =>
    Effect.suspend(() => {
      clock ??= narrativeClock({ createdAt: event.ts, metadata: {} })
      subjects = withSubject(subjects, event)
      const line = lineOf(event, subjectName(subjects, event))
      if (line === undefined) return Effect.void
      const draw = { high: bold, normal: same, low: dim }[line.weight]
      const time = `${seconds(clock(event)).padStart(6)} s`
      return Console.log(`${dim(time)}  ${padToWidth(line.who, WHO_WIDTH)} ${draw(line.what)}`)
    })
  return (event: CanonicalEvent) =>
    Effect.suspend(() => {
      if (!isBuffering) return print(event)
      if (event.type !== "run.created") buffered.push(event)
      if (!isOpening(event) && !ENDS.has(event.type)) return Effect.void
      isBuffering = false
      const waiting = buffered.splice(0)
      return Effect.forEach([...waiting.filter(isOpening), ...waiting.filter((one) => !isOpening(one))], print, {
        discard: true
      })
    })
}

const isOpening = ({ type }: CanonicalEvent) => type === "session.bound"

const ENDS: ReadonlySet<CanonicalEvent["type"]> = new Set(["run.completed", "run.failed", "run.cancelled"])

/** How a run ended, and why as far as that is known, under its heading. */
export const outcomeText = ({ metrics, state, narrative }: Omit<RunOutcome, "run">, { bold }: Style): string =>
  [bold("Outcome"), ...describeOutcome(state, metrics, narrative).map(([heading, text]) => row(heading, text))].join(
    "\n"
  )
