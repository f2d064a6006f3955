// The package for Python: built into a wheel, installed into an empty environment, checked by mypy, and used against
// running services as docs/reference/clients.md shows.
import { readdirSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { join } from "node:path"
import { background, example, run, say, step } from "./support.mjs"

const DOCUMENT = "docs/reference/clients.md"
const MYPY = "mypy==2.4.1"
/** A torn stream is opened again within a second. Milliseconds. */
const RESUME_LIMIT = 60_000

/** Follows a run through a proxy that cuts the first streams, and a run that has ended; then reads what is refused. */
const RESUME = `import sys

from runplane import ControlPlane, RunplaneError, proto_path

direct = ControlPlane(sys.argv[1])
cut = ControlPlane(sys.argv[2])
run_id = sys.argv[3]
expected = [event["seq"] for event in direct.follow(run_id)]
assert len(expected) > 10, expected
assert [event["seq"] for event in cut.follow(run_id)] == expected
assert [event["seq"] for event in direct.follow(run_id, after_seq=expected[5])] == expected[6:]
later = [event["seq"] for event in direct.follow(run_id, after_seq=expected[-1])]
assert list(direct.follow(run_id, after_seq=max([*expected, *later]))) == []
try:
    direct.get_run("00000000-0000-4000-8000-000000000000")
    raise AssertionError("a run that does not exist was found")
except RunplaneError as error:
    assert (error.status, error.error_code) == (404, "RUN_NOT_FOUND"), (error.status, error.error_code)
assert (proto_path() / "macp/v1/service.proto").is_file()
print("resumed")
`

/** Bytes of a message that the cut streams still send. */
const TORN = 40

/** A proxy of the control plane that tears the first streams, each inside its tenth event; `cuts()` counts them. */
const tearingProxy = async (target, most) => {
  let cuts = 0
  const serve = async (request, response) => {
    const left = new AbortController()
    response.on("close", () => left.abort())
    const headers = { accept: request.headers.accept ?? "*/*" }
    const answer = await fetch(`${target}${request.url}`, { headers, signal: left.signal })
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" })
    let text = ""
    for await (const part of answer.body) {
      const sent = text.length
      text += Buffer.from(part).toString("latin1")
      const end = cuts < most ? positionOf(text, "event: canonical_event", 10) + TORN : Number.POSITIVE_INFINITY
      response.write(Buffer.from(text.slice(sent, end), "latin1"))
      if (text.length < end) continue
      cuts += 1
      response.destroy()
      return
    }
    response.end()
  }
  const server = createServer((request, response) => {
    // A client that leaves ends the stream of the service, which has no end of its own.
    serve(request, response).catch((error) => response.destroy(error.name === "AbortError" ? undefined : error))
  })
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    close: () => server.close().closeAllConnections(),
    url: `http://127.0.0.1:${server.address().port}`,
    cuts: () => cuts
  }
}

/** Where a text has another one for the nth time; beyond its end when it does not have it so often. */
const positionOf = (text, wanted, nth) => {
  const found = [...text.matchAll(new RegExp(wanted, "g"))][nth - 1]
  return found === undefined ? Number.POSITIVE_INFINITY : found.index
}

/** Installs the wheel of a folder of sources, and uses it. `python` is the folder of the programs of an environment. */
export const testPythonPackage = async ({ addresses, folder, plain, python, source }) => {
  step("building, installing and using the package runplane of Python")
  const wheels = join(folder, "wheel")
  const pip = (...args) => run(join(python, "pip"), [...args, "--quiet", "--disable-pip-version-check"], { env: plain })
  pip("wheel", "--no-deps", "--wheel-dir", wheels, source)
  pip("install", MYPY, ...readdirSync(wheels).map((name) => join(wheels, name)))
  const program = example(DOCUMENT, "python", "from runplane import")
    .replace("http://127.0.0.1:3001", addresses.RUNPLANE_URL)
    .replace("http://127.0.0.1:3000", addresses.RUNPLANE_LAUNCHER_URL)
  writeFileSync(join(folder, "example.py"), program)
  writeFileSync(join(folder, "resume.py"), RESUME)
  for (const checked of [
    ["example.py", "resume.py"],
    ["--python-version", "3.10", "--package", "runplane"]
  ]) {
    run(join(python, "mypy"), ["--strict", ...checked], { cwd: folder, env: plain })
  }
  const { stdout } = run(join(python, "python"), ["example.py"], { cwd: folder, env: plain })
  const [, id] = /^(\S+) completed$/m.exec(stdout) ?? []
  if (id === undefined || !/^\d+ run\.completed$/m.test(stdout)) throw new Error(`the example printed: ${stdout}`)
  const proxy = await tearingProxy(addresses.RUNPLANE_URL, 2)
  const args = ["resume.py", addresses.RUNPLANE_URL, proxy.url, id]
  const resumed = background(join(python, "python"), args, { cwd: folder, env: plain })
  try {
    await resumed.says("resumed", RESUME_LIMIT)
  } finally {
    await resumed.stop()
    proxy.close()
  }
  if (proxy.cuts() !== 2) throw new Error(`${proxy.cuts()} streams were torn, not 2`)
  say("the package runplane of Python is checked by mypy, follows a run through torn streams, and reads its decision")
}
