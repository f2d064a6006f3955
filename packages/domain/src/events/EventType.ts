import * as Schema from "effect/Schema"
import { objectAt } from "../values/JsonReader.ts"
import type { JsonObject } from "../values/PayloadDecoder.ts"
import type { CanonicalEventType } from "./CanonicalEventType.ts"
import { type Members, membersOf } from "./Members.ts"
import { type EventSource, type EventTrace, envelopeFields, RecordedEvent, type Subject } from "./RecordedEvent.ts"
import { shownData } from "./ShownData.ts"

/** What is known of an event before the log assigns its id and position. */
export interface DraftHead {
  readonly ts: string
  readonly subject?: Subject
  readonly source: EventSource
  readonly trace?: EventTrace
}

/**
 * An event before the log assigns its id and position: its typed data, and the JSON that will be recorded.
 */
export interface Draft<Type extends CanonicalEventType, Data> extends DraftHead {
  readonly type: Type
  readonly data: Data
  readonly recorded: Pick<RecordedEvent, "data">
}

const NOTHING: JsonObject = {}

/**
 * One type of canonical events by its members, each with its kind and the names under which it is recorded. They are
 * read here and nowhere else.
 */
export const eventType = <const Type extends CanonicalEventType, const M extends Members>(type: Type, members: M) => {
  const says = membersOf(members)
  const schema = Schema.Struct({
    ...envelopeFields,
    type: Schema.Literal(type),
    data: says.schema,
    recorded: RecordedEvent
  })
  const read = (data: JsonObject, subject: Subject | undefined) =>
    says.read(
      { data, payload: objectAt(data, "decodedPayload", "payload") ?? NOTHING, subjectId: subject?.id ?? "" },
      "data"
    )
  return {
    type,
    /** The event as code sees it: `data` typed, and beside it the event as it is `recorded`. */
    schema,
    /** Types what the log recorded; its type must be this one. */
    typed: (recorded: RecordedEvent): (typeof schema)["Type"] => ({
      ...recorded,
      type,
      data: read(shownData(recorded.data, recorded.erased), recorded.subject),
      recorded
    }),
    /** Types the data of a draft. */
    draft: (head: DraftHead, data: JsonObject): Draft<Type, (typeof says.schema)["Type"]> => ({
      ...head,
      type,
      data: read(data, head.subject),
      recorded: { data }
    })
  } as const
}
