import { partAt, type Shape } from "./Shape.ts"

/** What an operation was asked and answered by running services. */
export interface OperationExamples {
  readonly request?: unknown
  /** Its answers by name; a text for answers that are not JSON. */
  readonly answers?: Readonly<Record<string, RecordedAnswer>>
}

export interface RecordedAnswer {
  readonly contentType: string
  readonly summary?: string
  readonly value: unknown
}

export type Examples = Readonly<Record<string, OperationExamples>>

/** The content of a body or an answer with the recorded values beside its schemas. */
export const withExamples = (content: Shape, answers: Readonly<Record<string, RecordedAnswer>>): Shape =>
  Object.fromEntries(
    Object.keys(content).map((contentType) => {
      const examples = Object.fromEntries(
        Object.entries(answers)
          .filter(([, answer]) => contentType.startsWith(answer.contentType))
          .map(([name, { summary, value }]) => [name, { ...(summary === undefined ? {} : { summary }), value }])
      )
      const media = partAt(content, contentType)
      return [contentType, Object.keys(examples).length === 0 ? media : { ...media, examples }]
    })
  )
