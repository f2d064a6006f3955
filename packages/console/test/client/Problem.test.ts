import { assert, describe, it } from "@effect/vitest"
import * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import { isPassing, isRefusal, problemOf, UNREACHABLE, UNREADABLE } from "../../src/client/Problem.ts"

const request = HttpClientRequest.get("http://service/runs")
const decodeFailure = (status: number, cause: unknown) =>
  new HttpClientError.HttpClientError({
    reason: new HttpClientError.DecodeError({
      request,
      response: HttpClientResponse.fromWeb(request, new Response("{", { status })),
      cause
    })
  })

describe("problemOf", () => {
  it("given a transfer that breaks, then the service is unreachable and the call is retried", () => {
    for (const cause of [new TypeError("network error"), new DOMException("aborted", "AbortError")]) {
      const problem = problemOf(decodeFailure(200, cause), "id")
      assert.strictEqual(problem.code, UNREACHABLE)
      assert.isTrue(isPassing(problem))
    }
  })

  it("given a broken transfer of an error, then the service is unreachable as well", () => {
    assert.strictEqual(problemOf(decodeFailure(500, new TypeError("network error")), "id").code, UNREACHABLE)
  })

  it("given a complete answer that the contract does not have, then its status counts", () => {
    for (const status of [500, 503]) {
      for (const cause of [new SyntaxError("Unexpected token <"), new Error("no such error"), undefined]) {
        assert.strictEqual(problemOf(decodeFailure(status, cause), "id").code, `HTTP ${status}`)
      }
    }
  })

  it("given a complete answer that is not JSON, then the answer is unreadable and the call is not retried", () => {
    const problem = problemOf(decodeFailure(200, new SyntaxError("Unexpected token <")), "id")
    assert.strictEqual(problem.code, UNREADABLE)
    assert.isFalse(isPassing(problem))
  })

  it("given a status that no retry changes, then it is a refusal", () => {
    const refused = [400, 401, 403, 404, 409, 429, 500, 503].filter((statusCode) =>
      isRefusal(problemOf({ statusCode, message: "no" }, "id"))
    )
    assert.deepStrictEqual(refused, [400, 401, 403, 404, 409])
  })
})
