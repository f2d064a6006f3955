import * as Data from "effect/Data"

/** The cursor is not one of this list in this order (docs/http.md#cursors). */
export class UnknownCursor extends Data.TaggedError("UnknownCursor") {}
