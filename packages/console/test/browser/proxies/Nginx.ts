import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

export interface Nginx {
  readonly stop: () => Promise<void>
}

/** Starts the nginx that `npm run test:console` finds, with these locations on a port of the loopback. */
export const startNginx = (port: number, locations: string): Promise<Nginx> =>
  startNginxWith(
    port,
    `server {
    listen 127.0.0.1:${port};
    ${locations}
  }`
  )

/** The same with whole servers, one of which listens on the port. */
export const startNginxWith = async (port: number, servers: string): Promise<Nginx> => {
  const program = process.env["CONSOLE_NGINX"]
  if (program === undefined) throw new Error("CONSOLE_NGINX names no nginx")
  const folder = mkdtempSync(join(tmpdir(), "runplane-nginx-"))
  mkdirSync(join(folder, "logs"))
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (kind) => `${kind}_temp_path ${join(folder, kind)};`
  )
  writeFileSync(
    join(folder, "nginx.conf"),
    `daemon off;
master_process off;
pid ${join(folder, "nginx.pid")};
error_log stderr warn;
events {}
http {
  access_log off;
  ${paths.join("\n  ")}
  ${servers}
}
`
  )
  const child = spawn(program, ["-p", folder, "-e", "stderr", "-c", join(folder, "nginx.conf")], { stdio: "inherit" })
  const ended = once(child, "exit")
  while (!(await fetch(`http://127.0.0.1:${port}/`).then(Boolean, () => false))) {
    if (child.exitCode !== null) throw new Error(`nginx ended with ${child.exitCode}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return {
    stop: async () => {
      child.kill("SIGTERM")
      await ended
      rmSync(folder, { recursive: true, force: true })
    }
  }
}
