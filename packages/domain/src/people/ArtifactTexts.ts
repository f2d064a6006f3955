import * as Schema from "effect/Schema"
import { isOfForm, isOneLine } from "../values/Field.ts"

/** Characters of an id in an artifact about people. */
const MAX_ID = 512

/** An id, on one line. */
export const boundedText = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(MAX_ID), isOneLine)

/** A SHA-256, hexadecimal. */
export const sha256Text = Schema.String.check(isOfForm(/^[0-9a-f]{64}$/))

/** 32 random bytes, hexadecimal: the hash of an artifact must not let its content be guessed. */
export const nonceText = Schema.String.check(isOfForm(/^[0-9a-f]{64}$/))

/** A time as ISO 8601, UTC. */
export const timeText = Schema.String.check(isOfForm(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/))
