import { readFileSync } from "node:fs"
import { createServer } from "node:http"
import { createServer as createSecureServer } from "node:https"
import { createServer as createSocketServer } from "node:net"
import { assert, it } from "@effect/vitest"
import { freePorts, listening, onLoopback } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { command } from "./support/CommandLineReads.ts"

const fixture = (name: string) => readFileSync(new URL(`../../runtime/test/fixtures/tls/${name}`, import.meta.url))

// docs/reference/cli.md#unreachable
it.live("a command names the cause and the next step when its service cannot be reached", () =>
  Effect.gen(function* () {
    const plain = yield* listening(createServer((_, response) => response.writeHead(404).end()))
    const moved = { location: "https://runs.example.org/" }
    const redirect = yield* listening(createServer((_, response) => response.writeHead(301, moved).end()))
    const certificate = { cert: fixture("localhost.cert.pem"), key: fixture("localhost.key.pem") }
    const secure = yield* listening(createSecureServer(certificate, (_, response) => response.end()))
    const mail = yield* onLoopback(
      createSocketServer((socket) =>
        socket
          .on("error", () => {})
          .resume()
          .end("220 mail\r\n")
      )
    )
    const [closed = 0] = yield* freePorts(1)
    const flag = "with --url or RUNPLANE_URL"
    for (const [url, code, why] of [
      [
        `https://127.0.0.1:${secure}`,
        5,
        "cannot be reached: its certificate is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT); NODE_EXTRA_CA_CERTS names the " +
          "file of the authority that signed it"
      ],
      [
        `https://127.0.0.1:${plain}`,
        5,
        `cannot be reached: the port answers without TLS; set an http:// address ${flag}`
      ],
      [
        `http://127.0.0.1:${secure}`,
        5,
        "cannot be reached: the connection was closed without an answer; an HTTPS port does that: set an https:// " +
          `address ${flag}`
      ],
      [
        `http://127.0.0.1:${closed}`,
        5,
        `cannot be reached: the connection is refused; start Runplane with \`runplane dev\`, or set the address ${flag}`
      ],
      [`http://127.0.0.1:${mail}`, 5, `cannot be reached: the port does not answer in HTTP; set the address ${flag}`],
      [`http://127.0.0.1:${plain}`, 1, `does not answer as Runplane does: it answered 404; set the address ${flag}`],
      [
        `http://127.0.0.1:${redirect}`,
        1,
        `does not answer as Runplane does: it redirects to https://runs.example.org/; set that address ${flag}`
      ]
    ] as const) {
      const refused = yield* command(["runs", "list", "--url", url])
      assert.deepStrictEqual(refused, { code, stdout: [], stderr: [], complaint: `${url} ${why}` })
    }
    const launcher = `http://127.0.0.1:${closed}`
    const { complaint } = yield* command(["scenarios", "list", "--launcher-url", launcher])
    assert.include(complaint, "with --launcher-url or RUNPLANE_LAUNCHER_URL")
  }).pipe(Effect.scoped)
)
