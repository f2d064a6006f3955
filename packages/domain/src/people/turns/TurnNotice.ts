import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { RemoteEvent, taskOfEvent } from "./RemoteTask.ts"

/** The header with the token of a notice. */
export const NOTICE_TOKEN_HEADER = "x-a2a-notification-token"

/** The path to which an agent sends the notices of a turn. */
export const noticePath = (item: string): `/turns/${string}/notices` => `/turns/${item}/notices`

const decode = Schema.decodeUnknownOption(RemoteEvent)

/**
 * The task that a notice is about; undefined for another body. Nothing else of a notice is read: it says that a task is
 * worth a look, and is never an answer.
 */
export const taskOfNotice = (body: unknown): string | undefined =>
  Option.getOrUndefined(Option.map(decode(body), taskOfEvent))
