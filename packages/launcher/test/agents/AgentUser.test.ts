import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { type AgentUser, agentUser } from "../../src/common/AgentUser.ts"

const UNPRIVILEGED: AgentUser = { name: "nobody", uid: 65534, gid: 65534 }
const users: Readonly<Record<string, AgentUser>> = {
  nobody: UNPRIVILEGED,
  "65534": UNPRIVILEGED,
  toor: { name: "toor", uid: 0, gid: 0 }
}
const find = (given: string) => Effect.succeed(users[given])

describe("the user of the agents", () => {
  it.effect("is found by name or number", () =>
    Effect.gen(function* () {
      for (const given of ["nobody", "65534"]) assert.deepStrictEqual(yield* agentUser(given, 0, find), UNPRIVILEGED)
    })
  )

  for (const [what, given, ownUid, problem] of [
    ["a service that is not root", "nobody", 1000, "needs a service that runs as root, and this one runs as user 1000"],
    ["a system without users", "nobody", undefined, "needs a service that runs as root, and this one runs on a system"],
    ["an unknown user", "agents", 0, "names agents, which is not a user here"],
    ["root", "toor", 0, "must be another user than root"]
  ] as const) {
    it.effect(`stops the start for ${what}`, () =>
      Effect.gen(function* () {
        const fault = yield* Effect.flip(agentUser(given, ownUid, find))
        assert.isTrue(fault.startsWith(`EXAMPLE_AGENT_USER ${problem}`), fault)
      })
    )
  }
})
