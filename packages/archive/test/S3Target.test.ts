import { assert, describe, it } from "@effect/vitest"
import { archiveTarget, s3Target } from "@runplane/archive"
import { S3_CREDENTIALS, type S3Fault, startS3Server } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import * as TestClock from "effect/testing/TestClock"

const bytesOf = (text: string) => new TextEncoder().encode(text)

const start = Effect.gen(function* () {
  const server = yield* startS3Server
  const target = (changes: Partial<typeof S3_CREDENTIALS> = {}) =>
    s3Target(
      { bucket: "bucket", prefix: "runs/of us/" },
      { ...S3_CREDENTIALS, ...changes, region: "eu-central-1", endpoint: server.endpoint }
    )
  return { server, target }
})

const PATH = "events/dt=2026-11-26/main-0000000000000001-0000000000000002.parquet"

describe("an archive in a bucket", () => {
  it.live("makes, replaces, lists, reads and removes objects", () =>
    Effect.gen(function* () {
      const { server, target } = yield* start
      const archive = target()
      yield* archive.put(PATH, bytesOf("one"))
      yield* archive.put(PATH, bytesOf("replaced"))
      assert.deepStrictEqual([...server.objects.keys()], [`/bucket/runs/of us/${PATH}`])
      assert.strictEqual(yield* archive.size(PATH), 8)
      assert.deepStrictEqual([...(yield* archive.read(PATH, 1, 3))], [...bytesOf("ep")])
      const others = ["a", "b", "c", "d", "e", "f", "g"].map((name) => `runs/${name}.parquet`)
      for (const path of others) yield* archive.put(path, bytesOf("x"))
      assert.deepStrictEqual(yield* archive.list(""), [PATH, ...others])
      assert.deepStrictEqual(yield* archive.list("runs/"), others)
      yield* archive.remove(PATH)
      yield* archive.remove(PATH)
      assert.strictEqual((yield* Effect.flip(archive.size(PATH))).kind, "missing")
      assert.strictEqual((yield* Effect.flip(archive.read(PATH, 0, 1))).kind, "missing")
    })
  )

  it.live("signs every character of a prefix as a store reads it", () =>
    Effect.gen(function* () {
      const server = yield* startS3Server
      const archive = s3Target(
        { bucket: "bucket", prefix: "it's (an) é+x&y=1 !*~<%41/" },
        { ...S3_CREDENTIALS, region: "eu-central-1", endpoint: server.endpoint }
      )
      for (const name of ["a", "b", "c", "d"]) yield* archive.put(name, bytesOf(name))
      assert.deepStrictEqual(yield* archive.list(""), ["a", "b", "c", "d"])
      assert.deepStrictEqual([...(yield* archive.read("b", 0, 1))], [...bytesOf("b")])
    })
  )

  it.live("says when the credentials are wrong, the clock is, or the bucket is missing", () =>
    Effect.gen(function* () {
      const { server, target } = yield* start
      const wrong = yield* Effect.flip(target({ secretAccessKey: "other" }).put(PATH, bytesOf("x")))
      assert.deepInclude(wrong, { kind: "refused" })
      assert.include(wrong.message, "SignatureDoesNotMatch")
      // The message goes into the log: no credentials, and no signature that could be sent again.
      const shown = `${wrong.message} ${wrong.stack} ${JSON.stringify(wrong)}`
      for (const secret of ["other", ...Object.values(S3_CREDENTIALS)]) assert.notInclude(shown, secret)
      assert.notMatch(shown, /Authorization|Signature=|Credential=/)
      server.aheadMs = 3_600_000
      const skewed = yield* Effect.flip(target().put(PATH, bytesOf("x")))
      assert.deepInclude(skewed, { kind: "clock" })
      server.aheadMs = 0
      const elsewhere = s3Target(
        { bucket: "none", prefix: "" },
        { ...S3_CREDENTIALS, region: "us-east-1", endpoint: server.endpoint }
      )
      assert.strictEqual((yield* Effect.flip(elsewhere.put(PATH, bytesOf("x")))).kind, "missing")
      assert.strictEqual(server.objects.size, 0)
      assert.lengthOf(server.requests, 3)
    })
  )

  const FAULTS: ReadonlyArray<readonly [fault: S3Fault, kind: string, requests: number]> = [
    [{ status: 507, code: "XMinioStorageFull" }, "full", 1],
    [{ status: 503, code: "SlowDown" }, "unreachable", 3],
    [{ status: 500, code: "InternalError" }, "unreachable", 3],
    [{ status: 400, code: "ExpiredToken" }, "refused", 1],
    [{ status: 400, code: "EntityTooLarge" }, "failed", 1],
    ["cut", "unreachable", 3]
  ]
  for (const [fault, kind, requests] of FAULTS) {
    it.live(`tries ${requests} times on ${JSON.stringify(fault)}, which is ${kind}`, () =>
      Effect.gen(function* () {
        const { server, target } = yield* start
        server.disturb = () => fault
        const found = yield* Effect.flip(target().put(PATH, bytesOf("x")))
        assert.strictEqual(found.kind, kind)
        assert.include(found.message, PATH)
        assert.lengthOf(server.requests, requests)
      })
    )
  }

  it.live("continues after a fault that passes", () =>
    Effect.gen(function* () {
      const { server, target } = yield* start
      server.disturb = () => (server.requests.length < 3 ? { status: 503, code: "SlowDown" } : undefined)
      yield* target().put(PATH, bytesOf("x"))
      assert.strictEqual(server.objects.size, 1)
    })
  )

  it.effect("gives up on a store that does not answer", () =>
    Effect.gen(function* () {
      const { server, target } = yield* start
      server.disturb = () => "silent"
      const put = yield* Effect.forkChild(Effect.flip(target().put(PATH, bytesOf("x"))), { startImmediately: true })
      yield* TestClock.adjust("5 minutes")
      const fault = yield* Fiber.join(put)
      assert.strictEqual(fault.message, `put ${PATH}: no answer within 60 s`)
    })
  )

  it.live("says when nothing listens", () =>
    Effect.gen(function* () {
      const { target } = yield* Effect.scoped(start)
      const fault = yield* Effect.flip(target().size(PATH))
      assert.strictEqual(fault.kind, "unreachable")
      assert.include(fault.message, "ECONNREFUSED")
    })
  )
})

describe("the address of an archive", () => {
  const access = { accessKeyId: "a", secretAccessKey: "b" }
  it.each([
    ["file:///var/lib/archive/", "file:///var/lib/archive"],
    ["file:///with%20space", "file:///with space"],
    ["s3://bucket", "s3://bucket"],
    ["s3://bucket/a/b/", "s3://bucket/a/b"]
  ])("%s is %s", (url, expected) => {
    assert.strictEqual(Result.getOrThrow(archiveTarget(url, access)).url, expected)
  })

  it.each([
    ["file://host/x", "names a host"],
    ["/var/lib", "expected file:///directory or s3://bucket/prefix"],
    ["s3:///x", "expected file:///directory"],
    ["https://bucket.s3.amazonaws.com", "expected file:///directory"]
  ])("%s is refused", (url, message) => {
    const found = archiveTarget(url, access)
    assert.include(Result.isFailure(found) ? found.failure.message : "", message)
  })

  it("of a bucket needs credentials", () => {
    const found = archiveTarget("s3://bucket", {})
    assert.include(Result.isFailure(found) ? found.failure.message : "", "AWS_ACCESS_KEY_ID")
  })
})
