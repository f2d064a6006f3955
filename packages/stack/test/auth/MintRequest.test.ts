import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { DEFAULT_TTL_SECONDS, MAX_TTL_SECONDS, parseMintRequest } from "../../src/auth/MintRequest.ts"

describe("a request for a token", () => {
  it.each([
    ["not json", "invalid JSON body"],
    ["", "invalid JSON body"],
    ["[]", "sender is required"],
    ["null", "sender is required"],
    ["{}", "sender is required"],
    ['{"sender":" "}', "sender is required"],
    ['{"sender":7}', "sender is required"],
    ['{"sender":"a","scopes":[]}', "scopes must be an object"],
    ['{"sender":"a","scopes":"all"}', "scopes must be an object"],
    ['{"sender":"a","scopes":null}', "scopes must be an object"],
    ['{"sender":"a","ttl_seconds":0}', "ttl_seconds must be a positive number"],
    ['{"sender":"a","ttl_seconds":"60"}', "ttl_seconds must be a positive number"]
  ])("%s is refused: %s", (body, text) => {
    assert.deepStrictEqual(parseMintRequest(body), Result.fail(text))
  })

  it.each([
    ["no life", "", DEFAULT_TTL_SECONDS],
    ["null", ',"ttl_seconds":null', DEFAULT_TTL_SECONDS],
    ["a fraction", ',"ttl_seconds":90.9', 90],
    ["less than a second", ',"ttl_seconds":0.2', 1],
    ["a day", ',"ttl_seconds":86400', MAX_TTL_SECONDS]
  ])("with %s gives a token of whole seconds within the limits", (_name, text, ttlSeconds) => {
    assert.deepStrictEqual(
      parseMintRequest(`{"sender":"agent://a","scopes":{"is_observer":true}${text}}`),
      Result.succeed({ sender: "agent://a", scopes: { is_observer: true }, ttlSeconds })
    )
  })
})
