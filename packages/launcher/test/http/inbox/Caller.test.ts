import { assert, describe, it } from "@effect/vitest"
import { type Actor, anonymousActor } from "@runplane/api"
import * as Headers from "effect/http/Headers"
import { callerOf } from "../../../src/http/inbox/Caller.ts"

const arrival = {
  nowUnixMs: 0,
  isAssistant: false,
  packGroups: new Map<string, ReadonlyArray<string>>(),
  headers: Headers.empty
}

describe("callerOf", () => {
  it.each<readonly [string, Actor, boolean]>([
    ["a voter", { actorId: "ana", actorType: "api-key", role: "voter" }, false],
    ["a voter who also reads", { actorId: "user:tom", actorType: "user", role: "viewer", isVoter: true }, true],
    ["a sender of telemetry", { actorId: "app", actorType: "api-key", role: "ingest" }, false],
    ["a viewer", { actorId: "vera", actorType: "api-key", role: "viewer" }, true],
    ["an operator", { actorId: "opal", actorType: "api-key", role: "operator" }, true],
    ["an administrator", { actorId: "ada", actorType: "api-key", role: "admin" }, true],
    ["a caller of a service without keys", anonymousActor, true]
  ])("reads runs in the console by the role alone: %s", (_, actor, readsRuns) => {
    assert.strictEqual(callerOf(actor, arrival).person.readsRuns, readsRuns)
  })
})
