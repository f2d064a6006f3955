import { assert, describe, it } from "@effect/vitest"
import { ArchiveFault } from "@runplane/archive"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { unread } from "../../src/platform/ArchiveUnread.ts"
import { retried } from "../../src/streams/FollowerLoop.ts"

const readOf = (kind: ArchiveFault["kind"]) =>
  retried(Effect.fail(unread(new ArchiveFault({ kind, message: "made by the test" }))))

describe("a read of a stream that fails", () => {
  it.effect("is tried again while the archive does not answer", () =>
    Effect.map(readOf("unreachable"), (input) => assert.strictEqual(input._tag, "Failed"))
  )

  it.effect("cuts the stream when a file is damaged", () =>
    Effect.map(Effect.exit(readOf("unreadable")), (exit) => {
      assert(Exit.isFailure(exit))
      assert.isTrue(Cause.hasDies(exit.cause))
    })
  )
})
