import { HttpAgent } from "@ag-ui/client"
import { assert, layer } from "@effect/vitest"
import { ERASED_TEXT, textFinder } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { baseUrl, layerTestService } from "../../support/HttpService.ts"
import { connect } from "../mcp/Clients.ts"
import { eraseText, PERSON, personRun } from "./PersonRuns.ts"

const isPerson = textFinder(PERSON)

/** The tools of assistants that answer texts of a run. */
const TOOLS = ["run_get", "run_story", "run_events", "decision_explain", "decision_forecast", "seal_verify"]

layer(layerTestService(), { excludeTestServices: true })("an erased text", (it) => {
  it.effect("is in no answer of a tool of MCP, and the seal is checked there", () =>
    Effect.gen(function* () {
      const runId = yield* personRun()
      const { call } = yield* connect(yield* baseUrl)
      const read = Effect.forEach(TOOLS, (name) => Effect.map(call(name, { runId }), (answer) => ({ name, ...answer })))
      assert.isAbove((yield* read).filter(({ text }) => isPerson(text)).length, 2)
      yield* eraseText(runId)
      const answers = yield* read
      for (const { isError, name, text } of answers) {
        assert.isFalse(isError, `${name}: ${text}`)
        assert.isFalse(isPerson(text), `${name}: ${text}`)
      }
      assert.isTrue(answers.some(({ text }) => text.includes(ERASED_TEXT)))
    })
  )

  it.effect("is neither in the state nor in the messages of AG-UI", () =>
    Effect.gen(function* () {
      const runId = yield* personRun()
      const url = `${yield* baseUrl}/runs/${runId}/ag-ui`
      const read = Effect.gen(function* () {
        const agent = new HttpAgent({ url, threadId: "thread-1" })
        // A failed run ends its stream with an error.
        yield* Effect.promise(() => agent.runAgent({ runId: "ui-1" }).catch(() => undefined))
        return JSON.stringify({ messages: agent.messages, state: agent.state })
      })
      assert.isTrue(isPerson(yield* read))
      yield* eraseText(runId)
      const erased = yield* read
      assert.isFalse(isPerson(erased), erased)
      assert.include(erased, ERASED_TEXT)
    })
  )
})
