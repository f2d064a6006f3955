import * as Schema from "effect/Schema"
import type { JsonObject } from "../PayloadDecoder.ts"
import type { CanonicalEventType } from "./CanonicalEventType.ts"
import { type EventSource, type EventTrace, envelopeFields, RecordedEvent, type Subject } from "./RecordedEvent.ts"

/** What everybody knows of an event before the log gives it its id and its places. */
export interface DraftHead {
  readonly ts: string
  readonly subject?: Subject
  readonly source: EventSource
  readonly trace?: EventTrace
}

/**
 * An event before the log has given it its id and its places: what it says, typed, and as the JSON that will be
 * recorded.
 */
export interface Draft<Type extends CanonicalEventType, Data> extends DraftHead {
  readonly type: Type
  readonly data: Data
  readonly recorded: Pick<RecordedEvent, "data">
}

/**
 * One type of canonical events: the shape of what it says, and how that is read from the recorded JSON.
 *
 * `read` is given the recorded data and the id of the subject. It is total: a member that is missing, or of another
 * kind than expected, is undefined (or empty, where the shape says so), and what is known by several names is looked
 * for under all of them here and nowhere else.
 */
export const eventType = <const Type extends CanonicalEventType, const Fields extends Schema.Struct.Fields>(
  type: Type,
  fields: Fields,
  read: (json: JsonObject, subjectId: string) => Schema.Struct<Fields>["Type"]
) => {
  const schema = Schema.Struct({
    ...envelopeFields,
    type: Schema.Literal(type),
    data: Schema.Struct(fields),
    recorded: RecordedEvent
  })
  type Data = Schema.Struct<Fields>["Type"]
  return {
    type,
    /** The event as code sees it: `data` typed, and beside it the event as it is `recorded`. */
    schema,
    /** Types what the log recorded; its type must be this one. */
    typed: (recorded: RecordedEvent): (typeof schema)["Type"] => ({
      ...recorded,
      type,
      data: read(recorded.data, recorded.subject?.id ?? ""),
      recorded
    }),
    /** Types what is to be recorded. */
    draft: (head: DraftHead, data: JsonObject): Draft<Type, Data> => ({
      ...head,
      type,
      data: read(data, head.subject?.id ?? ""),
      recorded: { data }
    })
  } as const
}

/** Kinds of the members of what an event says. A text, number or flag that was not given is undefined. */
export const maybeText = Schema.UndefinedOr(Schema.String)
export const maybeNumber = Schema.UndefinedOr(Schema.Finite)
export const maybeFlag = Schema.UndefinedOr(Schema.Boolean)
export const texts = Schema.Array(Schema.String)
