import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { layerTestService } from "../../support/HttpService.ts"
import { decidedRun, evidenceOf, keysOf } from "./EvidenceRuns.ts"
import { filesIn, hasPython, verify } from "./Verifier.ts"

const hasOpenssl = spawnSync("openssl", ["version"], { stdio: "ignore" }).status === 0
if (!hasOpenssl) process.stdout.write("openssl is absent: time stamps are not tested\n")

const folder = mkdtempSync(join(tmpdir(), "runplane-tsa-"))
const inFolder = (name: string) => join(folder, name)

const openssl = (...args: ReadonlyArray<string>): string => {
  const { status, stderr, stdout } = spawnSync("openssl", args, { cwd: folder, encoding: "utf8" })
  assert.strictEqual(status, 0, `openssl ${args.join(" ")}: ${stderr}`)
  return stdout
}

/** A certificate that may stamp times, and signs itself. */
const makeAuthority = () => {
  writeFileSync(
    inFolder("tsa.cnf"),
    `[req]
distinguished_name = name
x509_extensions = stamps
prompt = no
[name]
CN = Stamps for a test
[stamps]
basicConstraints = CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = critical, timeStamping
[tsa]
default_tsa = one
[one]
serial = serial
crypto_device = builtin
signer_cert = cert.pem
certs = cert.pem
signer_key = key.pem
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256
ess_cert_id_chain = no
ess_cert_id_alg = sha256
`
  )
  writeFileSync(inFolder("serial"), "01\n")
  const made = ["-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "cert.pem", "-days", "2"]
  openssl("req", "-x509", "-config", "tsa.cnf", ...made)
}

type Behaviour = "stamps" | "refuses" | "stamps another digest"
let behaviour: Behaviour = "stamps"

/** The authority: `openssl ts` behind HTTP. */
const authority = createServer((request, response) => {
  const parts: Array<Buffer> = []
  request.on("data", (part) => parts.push(part))
  request.on("end", () => {
    if (behaviour === "refuses") return response.writeHead(503).end()
    assert.strictEqual(request.headers["content-type"], "application/timestamp-query")
    writeFileSync(inFolder("query"), Buffer.concat(parts))
    if (behaviour === "stamps another digest") {
      writeFileSync(inFolder("other"), "another text")
      openssl("ts", "-query", "-data", "other", "-sha256", "-cert", "-out", "query")
    }
    openssl("ts", "-reply", "-config", "tsa.cnf", "-queryfile", "query", "-out", "reply")
    response.writeHead(200, { "content-type": "application/timestamp-reply" }).end(readFileSync(inFolder("reply")))
  })
})
await new Promise<void>((listening) => authority.listen(0, "127.0.0.1", listening))
const url = `http://127.0.0.1:${(authority.address() as AddressInfo).port}/tsr`
if (hasOpenssl) makeAuthority()

afterAll(() => {
  authority.close()
  rmSync(folder, { recursive: true })
})

describe.runIf(hasOpenssl)("the anchor of a bundle", () => {
  layer(layerTestService({ settings: { EVIDENCE_TSA_URL: url } }), { excludeTestServices: true })((it) => {
    it.effect("is a time stamp of the manifest, which openssl verifies", () =>
      Effect.gen(function* () {
        behaviour = "stamps"
        const bundle = yield* evidenceOf(yield* decidedRun())
        const files = filesIn(bundle)
        const manifest = files.get("manifest.json") ?? Buffer.of()
        assert.deepStrictEqual(JSON.parse(manifest.toString()).anchor, { kind: "rfc3161", authority: url })
        writeFileSync(inFolder("manifest.json"), manifest)
        writeFileSync(inFolder("manifest.tsr"), files.get("anchor/manifest.tsr") ?? "")
        const checked = ["-verify", "-data", "manifest.json", "-in", "manifest.tsr", "-CAfile", "cert.pem"]
        assert.include(openssl("ts", ...checked), "Verification: OK")
        if (!hasPython) return
        const { code, output } = yield* verify(bundle, { keys: yield* keysOf })
        assert.strictEqual(code, 0, output)
        assert.include(output, `checks the time stamp of ${url}`)
      })
    )

    for (const [how, why] of [
      ["refuses", "503"],
      ["stamps another digest", "its stamp is of another digest"]
    ] as const) {
      it.effect(`says why there is none when the authority ${how}`, () =>
        Effect.gen(function* () {
          behaviour = how
          const bundle = yield* evidenceOf(yield* decidedRun())
          const none = filesIn(bundle).get("anchor/none.txt")?.toString() ?? ""
          assert.include(none, `none: the authority ${url} gave no stamp: `)
          assert.include(none, why)
          if (!hasPython) return
          const { code, output } = yield* verify(bundle, { keys: yield* keysOf })
          assert.strictEqual(code, 0, output)
          assert.include(output, "anchor/none.txt says none: the authority")
        })
      )
    }
  })
})
