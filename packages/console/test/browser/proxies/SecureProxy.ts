import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { request } from "node:http"
import { createServer } from "node:https"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** A certificate for localhost that it signs itself. */
const selfSigned = (): { readonly key: Buffer; readonly cert: Buffer } => {
  const folder = mkdtempSync(join(tmpdir(), "runplane-console-tls-"))
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")]
  try {
    execFileSync(
      "openssl",
      [
        ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"],
        ...["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", cert]
      ],
      { stdio: "pipe" }
    )
    return { key: readFileSync(key), cert: readFileSync(cert) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** TLS in front of a service, as a proxy of a team has it. */
export const startSecureProxy = async (port: number, target: string) => {
  const server = createServer(selfSigned(), (incoming, answer) => {
    const { headers, method, url } = incoming
    const onward = request(`${target}${url}`, { method, headers }, (answered) => {
      answer.writeHead(answered.statusCode ?? 502, answered.headers)
      answered.pipe(answer)
    })
    onward.on("error", () => answer.destroy())
    answer.on("close", () => onward.destroy())
    incoming.pipe(onward)
  })
  await new Promise<void>((listening) => server.listen(port, "127.0.0.1", listening))
  return {
    close: () => {
      server.closeAllConnections()
      server.close()
    }
  }
}
