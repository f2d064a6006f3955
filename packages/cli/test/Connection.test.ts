import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { launcherError, runNotFound, unauthenticated } from "@runplane/api"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import { EXIT_CODES, failureOf } from "../src/CliFailure.ts"
import { parseInput } from "../src/commands/common/Input.ts"
import { readProfile } from "../src/ProfileFile.ts"

const service = { baseUrl: "http://127.0.0.1:3001", setBy: "--url" }

const inFolder = <A, E>(text: string | undefined, use: (env: Record<string, string>) => Effect.Effect<A, E>) =>
  Effect.acquireUseRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "runplane-cli-"))),
    (folder) =>
      Effect.suspend(() => {
        mkdirSync(join(folder, "runplane"))
        if (text !== undefined) writeFileSync(join(folder, "runplane", "profiles.json"), text)
        return use({ XDG_CONFIG_HOME: folder })
      }),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
  )

const profile = (text: string | undefined, name: string | undefined) =>
  inFolder(text, (env) => Effect.provide(Effect.result(readProfile(name, env)), NodeServices.layer))

describe("profiles", () => {
  const file = JSON.stringify({ default: { url: "http://a" }, team: { url: "https://b", apiKey: "k" } })

  it.live("are read by name, and default without one", () =>
    Effect.gen(function* () {
      assert.deepInclude(yield* profile(file, undefined), { success: { url: "http://a" } })
      assert.deepInclude(yield* profile(file, "team"), { success: { url: "https://b", apiKey: "k" } })
      assert.deepInclude(yield* profile(undefined, undefined), { success: {} })
    })
  )

  it.live("say what is wrong with them", () =>
    Effect.gen(function* () {
      for (const [text, name, words] of [
        [file, "none", "it has default, team"],
        [file, "toString", "no profile"],
        [undefined, "team", "runplane profiles add makes both"],
        ["[1]", undefined, "not a JSON object"],
        ['{"default":{"url":1}}', undefined, "not a JSON object"]
      ] as const) {
        const read = yield* profile(text, name)
        assert.strictEqual(read._tag, "Failure")
        if (read._tag !== "Failure") return
        assert.include(read.failure.message, words)
        assert.strictEqual(read.failure.code, EXIT_CODES.usage)
      }
    })
  )
})

describe("an input", () => {
  for (const [text, expected] of [
    ["lag=5", ["lag", 5]],
    ["name=north-2", ["name", "north-2"]],
    ["a=b=c", ["a", "b=c"]],
    ['standby={"warm":false}', ["standby", { warm: false }]],
    ["empty=", ["empty", ""]],
    ['account="653247040368672769"', ["account", "653247040368672769"]]
  ] as const) {
    it.effect(`${text} is ${JSON.stringify(expected)}`, () =>
      Effect.map(parseInput(text), (read) => assert.deepStrictEqual(read, expected))
    )
  }

  for (const [text, why] of [
    ["=x", "--input =x is not of the form name=value"],
    ["nothing", "--input nothing is not of the form name=value"],
    [
      "account=653247040368672769",
      "--input account: the value must not be 653247040368672769: a double cannot hold it"
    ],
    ['account={"a":1,"a":2}', "--input account: a must not be given twice"]
  ] as const) {
    it.effect(`${text} is refused`, () =>
      Effect.map(Effect.flip(parseInput(text)), (failure) => assert.include(failure.message, why))
    )
  }
})

describe("a failure", () => {
  const failure = failureOf(service)

  it("names the next step and has a code of its own", () => {
    const unknown = failure(runNotFound("x"))
    assert.strictEqual(unknown.code, EXIT_CODES.notFound)
    assert.include(unknown.message, "`runplane runs list`")
    const key = failure(unauthenticated("Invalid authorization token"))
    assert.strictEqual(key.code, EXIT_CODES.refused)
    assert.include(key.message, "RUNPLANE_API_KEY")
    assert.strictEqual(failure({ message: "a\nb", statusCode: 500 }).code, EXIT_CODES.failed)
    assert.notInclude(failure({ message: "a\nb\u001b[0m", statusCode: 500 }).message, "\n")
    assert.strictEqual(failure({ odd: true }).message, "unknown failure")
    assert.strictEqual(failure("cut").message, "cut")
  })

  it("names each input that is refused, and each agent that did not start", () => {
    const rejected = (errors: ReadonlyArray<Schema.JsonObject>) =>
      failure(launcherError("VALIDATION_ERROR", "Input validation failed", { errors })).message
    const required = { keyword: "required", params: { missingProperty: "region" } }
    const errors = [
      { instancePath: "", message: "must NOT have additional properties", params: { additionalProperty: "nope" } },
      { instancePath: "/standby/warm", message: "must be boolean", params: { type: "boolean" } },
      {
        instancePath: "/a~1b/0",
        message: "must be equal to one of the allowed values",
        params: { allowedValues: [1, "x"] }
      },
      { ...required, instancePath: "/standby", message: "must have required property 'region'" }
    ]
    assert.strictEqual(
      rejected(errors),
      "Input validation failed (the inputs must NOT have additional properties: nope; standby.warm must be boolean; " +
        "a/b.0 must be equal to one of the allowed values: 1, x; standby must have required property 'region')"
    )
    const many = Array.from({ length: 12 }, () => ({ instancePath: "/a", message: "must be string" }))
    assert.isTrue(rejected(many).endsWith("; a must be string; and 2 more)"))
    assert.strictEqual(rejected([{ other: 1 }]), "Input validation failed")
    const failedParticipants = [{ participantId: "lead", agentRef: "a", reason: "exit code 3\n" }]
    const attach = launcherError("AGENT_ATTACH_FAILED", "agents failed to attach: lead", { failedParticipants })
    assert.include(failure(attach).message, "agents failed to attach: lead (lead: exit code 3")
  })
})
