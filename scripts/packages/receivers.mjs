// The receivers of webhooks that docs/reference/clients.md shows, with the standardwebhooks libraries of npm and PyPI,
// and the Python client that it has generated: they must work as they stand there.
import { spawnSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { cpSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { testPythonPackage } from "./python.mjs"
import { background, example, install, root, run, say, step } from "./support.mjs"

const DOCUMENT = "docs/reference/clients.md"
/** A run of the example takes some seconds. Milliseconds. */
const DELIVERY_LIMIT = 120_000

/** Starts a receiver, subscribes it, launches a run, and waits until it has verified that the run was decided. */
const receives = async ({ bin, env, receiver, secret, url }) => {
  try {
    await receiver.says("listening", 30_000)
    const subscribed = run(bin, ["webhooks", "add", url, "--json"], {
      env: { ...env, RUNPLANE_WEBHOOK_SECRET: secret }
    })
    run(bin, ["launch", "incident/region-failover@1.0.0"], { env })
    await receiver.says("run.completed", DELIVERY_LIMIT)
    // A delivery with another secret is refused.
    const forged = await fetch(url, {
      method: "POST",
      body: '{"event":"run.completed"}',
      headers: {
        "webhook-id": "1",
        "webhook-timestamp": String(Math.floor(Date.now() / 1000)),
        "webhook-signature": "v1,AAAA"
      }
    })
    if (forged.status !== 400) throw new Error(`a forged delivery was answered with ${forged.status}`)
    return JSON.parse(subscribed.stdout).id
  } finally {
    await receiver.stop()
  }
}

const newSecret = () => `whsec_${randomBytes(24).toString("base64")}`

/** With the library of npm. */
export const testNodeReceiver = async ({ bin, env, folder, port, plain }) => {
  step("verifying webhooks with standardwebhooks of npm")
  install(folder, plain, "standardwebhooks")
  const secret = newSecret()
  const lines = example(DOCUMENT, "js", 'import { createServer } from "node:http"').replace("8080", String(port))
  writeFileSync(join(folder, "receiver.mjs"), lines)
  const receiver = background("node", ["receiver.mjs"], { cwd: folder, env: { ...plain, WEBHOOK_SECRET: secret } })
  const url = `http://127.0.0.1:${port}/`
  await receives({ bin, env, receiver, secret, url })
  say("webhooks are verified by standardwebhooks of npm as the document shows")
}

const PYTHON_PACKAGES = ["standardwebhooks==1.1.0", "openapi-python-client==0.29.1"]

/** A Python with the libraries, or a word about what is missing. */
const pythonWith = (folder, packages) => {
  const made = spawnSync("python3", ["-m", "venv", folder], { encoding: "utf8" })
  if (made.status !== 0) return { missing: `python3 with venv: ${made.error?.message ?? made.stderr.trim()}` }
  const bin = join(folder, "bin")
  if (packages.length === 0) return { bin }
  const pip = join(bin, "pip")
  const installed = spawnSync(pip, ["install", "--quiet", "--disable-pip-version-check", ...packages], {
    encoding: "utf8",
    timeout: 240_000
  })
  if (installed.status !== 0) return { missing: `${packages.join(" and ")} of PyPI: ${installed.stderr.trim()}` }
  return { bin }
}

/** With the library of PyPI, and a client that is generated from the OpenAPI documents. */
export const testPython = async ({ addresses, bin, env, folder, port, plain, source }) => {
  step("verifying webhooks and making a run in Python")
  const { bin: python, missing } = pythonWith(join(folder, "python"), PYTHON_PACKAGES)
  if (missing !== undefined) return console.log(`--  left out: Python, there is no ${missing}`)
  const secret = newSecret()
  const lines = example(DOCUMENT, "python", "import os\nfrom http.server").replace("8080", String(port))
  writeFileSync(join(folder, "receiver.py"), lines)
  const receiver = background(join(python, "python"), ["-u", "receiver.py"], {
    cwd: folder,
    env: { ...plain, WEBHOOK_SECRET: secret }
  })
  const url = `http://127.0.0.1:${port}/`
  await receives({ bin, env, receiver, secret, url })
  say("webhooks are verified by standardwebhooks of PyPI as the document shows")

  const own = pythonWith(join(folder, "own"), [])
  if (own.missing !== undefined) throw new Error(own.missing)
  await testPythonPackage({ addresses, folder, plain, python: own.bin, source })

  writeFileSync(join(folder, "config.yaml"), example(DOCUMENT, "yaml", "content_type_overrides"))
  for (const name of ["control-plane.json", "launcher.json"]) {
    cpSync(join(root, "packages/api/openapi", name), join(folder, name))
    const options = ["generate", "--path", name, "--meta", "none", "--config", "config.yaml"]
    const { stderr, stdout } = run(join(python, "openapi-python-client"), options, {
      cwd: folder,
      env: { ...plain, PATH: `${python}:${plain.PATH}` }
    })
    // It leaves out with a warning what it cannot generate.
    if (/WARNING|ERROR/.test(stdout + stderr)) throw new Error(`${name}: ${stdout}${stderr}`)
  }
  const program = example(DOCUMENT, "python", "from run_control_plane_client")
    .replace("http://127.0.0.1:3001", addresses.RUNPLANE_URL)
    .replace("http://127.0.0.1:3000", addresses.RUNPLANE_LAUNCHER_URL)
  writeFileSync(join(folder, "decide.py"), program)
  const { stdout } = run(join(python, "python"), ["decide.py"], { cwd: folder, env: plain })
  if (!stdout.includes("decision.selected")) throw new Error(`the generated Python client printed: ${stdout}`)
  say("a Python client generated from the OpenAPI documents has every operation, makes a run and prints its decision")
}
