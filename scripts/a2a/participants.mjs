// Agents of others as participants of an example: those of the guide, and dummy-a2a in each of its states.
import { spawn } from "node:child_process"
import { cpSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const SCENARIO = "incident/region-failover"
/** The deadlines of turns by the version of the scenario: only a slow agent answers late, not a slow machine. */
const DEADLINES = { "1.0.0": "60s", "1.1.0": "3s" }
const PARTICIPANT = "security-analyst"
const GUIDE_PORT = "4100"
/** Milliseconds. */
const LIMIT = 120_000
const PAUSE = 200

const VOTES = { outcome: "acted", origin: "agent", act: "approve" }
const fails = (failure) => ({ outcome: "acted", origin: "failure", act: "abstain", failure })

/** What becomes of a turn by each keyword of dummy-a2a. */
const KEYWORDS = {
  echo: fails("unreadable"),
  stream: fails("unreadable"),
  data: fails("unreadable"),
  multi: fails("unreadable"),
  file: fails("unreadable"),
  ask: fails("input-required"),
  slow: fails("late"),
  fail: fails("failed"),
  reject: fails("rejected"),
  auth: fails("auth-required")
}

/** The first block of a language in the guide that has the text. */
const blockOf = (guide, language, text) => {
  const blocks = [...guide.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm"))]
  return blocks.map(([, block]) => block).find((block) => block.includes(text))
}

const guideOf = (root, port) =>
  readFileSync(join(root, "docs/guides/a2a-voter.md"), "utf8").replaceAll(GUIDE_PORT, String(port))

/** The files that the guide makes, by name. */
const filesOf = (guide) => [...guide.matchAll(/^cat > (\S+) <<'END'\n([\s\S]*?)^END$/gm)].map(([, ...file]) => file)

/** The packs with the files of the guide, and rules that end each turn soon. */
export const packsWithAgent = (root, folder, port) => {
  cpSync(join(root, "packs"), join(folder, "packs"), { recursive: true })
  for (const [file, text] of filesOf(guideOf(root, port))) writeFileSync(join(folder, file), text)
  for (const [version, deadline] of Object.entries(DEADLINES)) {
    const scenario = join(folder, "packs/incident/scenarios/region-failover", version, "scenario.yaml")
    const rules = `\n  launch:\n    a2a:\n      ${PARTICIPANT}: { deadline: ${deadline}, onFailure: abstain }\n`
    writeFileSync(scenario, readFileSync(scenario, "utf8").replace("\n  launch:\n", rules))
  }
  return join(folder, "packs")
}

const agentsOf = (root, { python, js, folder, port }) => {
  const guide = guideOf(root, port)
  // Node searches packages from the folder of the program.
  const programs = { js: join(js, "voter.mjs"), python: join(folder, "voter.py") }
  writeFileSync(programs.js, blockOf(guide, "js", "AgentCard.fromJSON"))
  writeFileSync(programs.python, blockOf(guide, "python", "AgentExecutor"))
  const dummy = join(root, "scripts/a2a/agent.py")
  return [
    ["the guide in JavaScript", VOTES, "node", [programs.js]],
    ["the guide in Python", VOTES, python, [programs.python]],
    ...Object.entries(KEYWORDS).map(([keyword, expected]) => [
      `dummy-a2a ${keyword}`,
      expected,
      python,
      [dummy, String(port), keyword]
    ])
  ]
}

const until = async (read, isDone) => {
  const end = Date.now() + LIMIT
  while (true) {
    const value = await read().catch(() => undefined)
    if (value !== undefined && isDone(value)) return value
    if (Date.now() > end) throw new Error(`nothing within ${LIMIT} ms, at last ${JSON.stringify(value)}`)
    await new Promise((resolve) => setTimeout(resolve, PAUSE))
  }
}

const json = async (url, body) => {
  const headers = { "content-type": "application/json" }
  const response = await fetch(url, body === undefined ? {} : { method: "POST", headers, body: JSON.stringify(body) })
  return response.json()
}

/** The turn of a launch, and the votes of the participant. */
const launch = async ({ controlPlane, launcher }, version) => {
  const { controlPlaneRun, message } = await json(`${launcher}/examples/run`, {
    scenarioRef: `${SCENARIO}@${version}`,
    inputs: {},
    bootstrapAgents: true
  })
  if (controlPlaneRun === undefined) throw new Error(message)
  const run = `${controlPlane}/runs/${controlPlaneRun.runId}`
  await until(
    () => json(run),
    ({ status }) => ["completed", "failed", "cancelled"].includes(status)
  )
  const artifacts = await until(
    () => json(`${run}/artifacts`),
    (all) => all.some(({ kind }) => kind === "a2a.turn")
  )
  const { data } = await json(`${run}/events?type=message.received&limit=200`)
  return {
    turns: artifacts.filter(({ kind }) => kind === "a2a.turn").map(({ inline }) => inline),
    messages: data.filter((event) => event.data.sender === PARTICIPANT)
  }
}

/** What is wrong with the turns of each agent. */
export const participantFindings = async (root, services, options, say) => {
  const findings = []
  for (const [name, expected, command, args] of agentsOf(root, options)) {
    const child = spawn(command, args, { cwd: options.folder, stdio: ["ignore", "ignore", "inherit"] })
    try {
      await until(
        () => json(`http://127.0.0.1:${options.port}/.well-known/agent-card.json`),
        (card) => card.name !== undefined
      )
      const { messages, turns } = await launch(services, expected.failure === "late" ? "1.1.0" : "1.0.0")
      const [turn = {}] = turns
      const wrong = Object.entries(expected).filter(([key, value]) => turn[key] !== value)
      if (turns.length === 1 && messages.length === 1 && wrong.length === 0) {
        say(`${name}: ${turn.act}${turn.failure === undefined ? "" : ` after ${turn.failure}`}`)
      } else findings.push(`${name}: ${messages.length} messages, ${JSON.stringify(turns)}`)
    } catch (error) {
      findings.push(`${name}: ${error.message}`)
    } finally {
      await new Promise((resolve) => {
        child.once("exit", resolve)
        child.kill("SIGKILL")
      })
    }
  }
  return findings
}
