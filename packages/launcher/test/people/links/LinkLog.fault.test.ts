import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, layer } from "@effect/vitest"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { ask } from "../InboxStage.ts"
import { makeLinkStage } from "./LinkStage.ts"

const other = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, "0")

layer(NodeFileSystem.layer, { excludeTestServices: true })("the whole log of a launch service", (it) => {
  it.effect(
    "given links, codes, wrong ones and bodies that break rules, has no token, no code and no address",
    () =>
      Effect.gen(function* () {
        const stage = yield* makeLinkStage(
          [{ session: "one", rules: { assign: ["person:dora", "person:emil"] } }],
          { LOG_LEVEL: "trace" },
          { isProgram: true }
        )
        yield* stage.propose("one")
        const [token, second] = [yield* stage.linkTo("dora"), yield* stage.linkTo("emil")]
        const answer = { ...(yield* stage.answerOf(token)), token }
        const code = yield* stage.codeOf(token, "dora")
        const spoilt = `${token.slice(0, -1)}!`
        const requests = [
          ["answer", { ...answer, code: other(code) }],
          ["answer", { ...answer, code, act: "accept" }],
          ["answer", { ...answer, code, surplus: token }],
          ["answer", { ...answer, code: `${code}0` }],
          ["read", { token: spoilt }],
          ["read", { token: token.toLowerCase() }],
          ["code", { token: [token] }],
          ["answer", { ...answer, code }]
        ] as const
        for (const [way, body] of requests) yield* stage.post(way, body)
        yield* ask(stage.url, "POST", "/inbox/link/answer", {}, `{"token": "${token}", "code": `)
        yield* ask(stage.url, "GET", "/inbox/link", { accept: "text/html" })
        yield* until(stage.itemsOf("one"), ([item]) => item?.state === "accepted")
        yield* stage.post("answer", { ...answer, code })
        const log = yield* until(
          Effect.sync(() => stage.log()),
          (text) => text.includes("/inbox/link/answer") && text.includes("410")
        )
        // The log has the requests, so it could have had what they carried.
        for (const way of ["read", "code", "answer"]) assert.include(log, `POST /inbox/link/${way}`)
        for (const secret of [token, spoilt, token.toLowerCase(), second, "@example"]) assert.notInclude(log, secret)
        assert.notMatch(log, new RegExp(`(?<![0-9.])${code}(?![0-9])`), "the code")
      }),
    240_000
  )
})
