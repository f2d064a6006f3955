import { type Phrase, phrase, phraseText } from "../values/Phrase.ts"

/** How a sentence counts to a reader. A colour always has a word beside it. */
export type Tone = "good" | "bad" | "warn" | "accent" | "calm"

/** What an event is to a reader. */
export type SentenceKind =
  | "opening"
  | "proposal"
  | "opinion"
  | "objection"
  | "vote"
  | "answer"
  | "commitment"
  | "denial"
  | "work"
  | "tool call"
  | "tool result"
  | "model call"
  | "signal"
  | "receipt"
  | "question"
  | "session"
  | "run"
  | "end"

/**
 * An event as a sentence: `who verb object (detail) about, note: words`. The command line, the console, MCP and AG-UI
 * render it, each in its own form. `verb` is Runplane's own; texts of senders are in the other members, quoted.
 */
export interface Sentence {
  readonly kind: SentenceKind
  /** The participant by its name; `run`, `policy` or `an agent` for the others. */
  readonly who: string
  readonly by: "participant" | "run" | "policy" | "unknown"
  readonly verb: string
  /** An option, an action, a participant. */
  readonly object?: string | undefined
  /** In brackets: a severity, an error code, an outcome. */
  readonly detail?: Phrase | undefined
  /** The other participant, or the subject of an answer where there are several, with its preposition: "on go". */
  readonly about?: Phrase | undefined
  /** 0 to 1. */
  readonly confidence?: number | undefined
  /** What follows a comma. */
  readonly note?: Phrase | undefined
  /** In the words of the sender. */
  readonly words?: string | undefined
  readonly tone: Tone
  /** How much it matters to a reader; `repeated` when the sentence of another event says it. */
  readonly weight: "high" | "normal" | "low" | "repeated"
}

/** The end of a sentence with the words of its sender: `: <words>`, or nothing without them. */
export type Because = (words: string | undefined) => string

/** The sentence behind its subject, without the words of the sender. */
export const sentencePhrase = ({ about, confidence, detail, note, object, verb }: Sentence): Phrase => [
  { text: verb, isQuoted: false },
  ...(object === undefined ? [] : phrase` ${object}`),
  ...(detail === undefined ? [] : phrase` (${detail})`),
  ...(about === undefined ? [] : phrase` ${about}`),
  ...(confidence === undefined ? [] : phrase` with confidence ${confidence}`),
  ...(note === undefined ? [] : phrase`, ${note}`)
]

/** The sentence behind its subject as one text. */
export const sentenceText = (sentence: Sentence, because: Because): string =>
  `${phraseText(sentencePhrase(sentence))}${because(sentence.words)}`
