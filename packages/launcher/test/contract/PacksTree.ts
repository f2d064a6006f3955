import type { MemoryTree } from "../fixtures/MemoryFiles.ts"
import { packYaml } from "../fixtures/Packs.ts"

/** A launch of the format's every key. */
const FULL = `apiVersion: scenarios.macp.dev/v1
kind: ScenarioVersion
metadata:
  pack: elsewhere
  scenario: another
  version: "9"
  name: Full Scenario
  summary: Everything that the format has
  tags: [everything, exec]
  deprecated: true
spec:
  runtime: { kind: rust, version: v2 }
  inputs:
    schema:
      $schema: http://json-schema.org/draft-07/schema#
      type: object
      required: [customer, amount]
      additionalProperties: false
      properties:
        customer: { type: string, pattern: "^C-[0-9]+$" }
        amount: { type: number, minimum: 0, maximum: 1000, default: 10 }
        express: { type: boolean, default: false }
        address:
          type: object
          default: { city: Aby }
          properties: { city: { type: string, default: nested }, zip: { type: string, default: "1" } }
        list: { type: array, items: { type: string }, default: [x, y] }
        mail: { type: string, format: email }
        note: { type: [string, "null"] }
  launch:
    modeName: macp.mode.decision.v1
    modeVersion: 1.0.0
    configurationVersion: config.full
    policyVersion: policy.full
    policyHints: { type: majority, threshold: 0.5, designatedRoles: [reviewer] }
    ttlMs: 120000
    maxSuspendMs: 5000
    initiatorParticipantId: lead
    contextId: "ctx {{ inputs.customer }}"
    extensions: { a.b: eA== }
    participants:
      - { id: one, role: reviewer, agentRef: agent-member, displayName: unused }
      - { id: lead, role: "", agentRef: agent-lead }
    commitments:
      - { id: c1, title: "{{ inputs.never }}", description: unused }
    contextTemplate:
      customer: "{{ inputs.customer }}"
      amount: "{{ inputs.amount }}"
      express: "{{inputs.express}}"
      address: "{{   inputs.address   }}"
      list: "{{ inputs.list }}"
      text: "{{ inputs.customer }} wants {{ inputs.amount }} to {{ inputs.address }} with {{ inputs.list }}"
      city: "{{ inputs.address.city }}"
      second: "{{ inputs.list.1 }}"
      filtered: "{{ inputs.customer | upper }}"
      spaced: " {{ inputs.amount }} "
      "{{ inputs.customer }}": a key
      nothing: null
      number: 7
      deep: [{ at: "{{ inputs.amount }}" }]
    metadataTemplate:
      intent: "decide for {{ inputs.customer }}"
      source: overridden
      environment: overridden
      mine: [1, "{{ inputs.amount }}"]
    kickoffTemplate:
      - from: one
        to: [lead]
        kind: proposal
        payload: { proposal_id: "p-{{ inputs.customer }}" }
      - kind: request
        payload: { unused: true }
  execution:
    idempotencyKey: "key {{ inputs.customer }}"
    tags: [exec, example, demo]
    requester: { actorId: desk, actorType: user }
  outputs:
    expectedDecisionKinds: [go, stay]
    expectedSignals: [unused]
`

const TEMPLATE = `kind: ScenarioTemplate
metadata: { slug: small, scenarioVersion: demo/full@1.0.0, name: Small }
spec:
  defaults: { customer: C-1, amount: 5, address: { zip: "2" }, extra: kept for the form }
  overrides:
    runtime: { version: v3 }
    launch:
      ttlMs: 1000
      policyHints: { threshold: 0.7, designatedRoles: [] }
      participants: [{ id: lead, role: leader, agentRef: agent-lead }]
    execution: { tags: [fast] }
`

export interface Member {
  readonly id: string
  readonly agent: string
}

/** The smallest scenario with these participants. */
export const castYaml = (participants: ReadonlyArray<Member>, initiator?: string, launch = "") =>
  `apiVersion: scenarios.macp.dev/v1
kind: ScenarioVersion
metadata: { name: Cast }
spec:
  inputs: { schema: { type: object } }
  launch:
    modeName: macp.mode.decision.v1
    modeVersion: 1.0.0
    configurationVersion: config.default
    ttlMs: 60000
    participants: [${participants.map(({ agent, id }) => `{ id: ${id}, role: member, agentRef: ${agent} }`).join(", ")}]
${initiator === undefined ? "" : `    initiatorParticipantId: ${initiator}\n`}${launch}`

const member = (id: string, agent = "agent-member"): Member => ({ id, agent })

const LEAD = member("lead", "agent-lead")

/** Scenarios of the pack `cast`, by slug: who takes part, and who starts. */
const casts: Readonly<Record<string, readonly [ReadonlyArray<Member>, string?]>> = {
  order: [[member("a"), member("b"), LEAD], "lead"],
  mixed: [[member("m", "agent-mock"), member("d", "agent-deferred"), LEAD], "lead"],
  unstarted: [[member("m", "agent-mock"), member("d", "agent-deferred")]],
  empty: [[]],
  concurrent: [[member("concurrent-first"), member("concurrent-last")]],
  "initiator-exits": [[member("a"), member("lead", "agent-exits"), member("b", "agent-exits")], "lead"],
  "members-fail": [[member("x", "agent-exits"), member("a"), member("y", "agent-silent"), LEAD], "lead"],
  missing: [[LEAD, member("x", "agent-missing")]],
  broken: [[member("x", "agent-broken")]],
  container: [[member("x", "agent-container")]],
  "python-on-node": [[member("x", "agent-python")]],
  person: [[LEAD, member("p", "agent-person")]],
  unlisted: [[LEAD, member("x", "agent-unlisted")]],
  foreign: [[LEAD, member("x", "agent-foreign")]],
  unknown: [[LEAD, member("x", "agent-unknown"), member("y", "agent-unlisted")]],
  "auth-fails": [[LEAD, member("auth-fails")]],
  ...Object.fromEntries(
    ["refuses", "hangs", "stalls", "closes", "mumbles", "tokenless", "empty", "redirects"].map((how) => [
      `auth-${how}`,
      [[member(`auth-${how}`)]] as const
    ])
  )
}

const SCRIPT = `echo "start $MACP_PARTICIPANT_ID" >> journal
cp "$MACP_BOOTSTRAP_FILE" "bootstrap-$MACP_PARTICIPANT_ID.json"
printenv > "environment-$MACP_PARTICIPANT_ID"
echo $$ > "pid-$MACP_PARTICIPANT_ID"
sleep 0.05
echo "ready $MACP_PARTICIPANT_ID" >> journal
echo ready
exec cat > /dev/null
`

interface Agent {
  readonly profile?: Readonly<Record<string, unknown>>
  readonly manifest?: Readonly<Record<string, unknown>>
}

const command = (value: string, ...args: ReadonlyArray<string>) => ({
  entrypoint: { type: "command", value },
  host: { args, readyText: "ready" }
})

const patient = { manifest: command("/bin/sh", "agents/run.sh") }

/** By agentRef; all of them are attached agents of the framework `custom` unless they say otherwise. */
const agents: Readonly<Record<string, Agent>> = {
  "agent-broken": { manifest: { id: "", entrypoint: { type: "node_file", value: "x" } } },
  "agent-container": { manifest: { entrypoint: { type: "container", value: "image" } } },
  "agent-deferred": { profile: { bootstrapMode: "deferred", framework: "mock" } },
  "agent-exits": { manifest: command("/bin/sh", "-c", "echo exits >> journal; exit 3") },
  "agent-foreign": { profile: { framework: "mock" }, manifest: {} },
  "agent-lead": patient,
  "agent-member": patient,
  "agent-missing": { manifest: command("./no-such-executable") },
  "agent-mock": { profile: { bootstrapMode: "mock", framework: "mock" } },
  "agent-person": { profile: { framework: "person", bootstrapStrategy: "seat", bootstrapMode: "deferred" } },
  "agent-python": {
    profile: { framework: "langgraph" },
    manifest: { framework: "langgraph", entrypoint: { type: "node_file", value: "x" } }
  },
  "agent-silent": {
    manifest: { ...command("sleep", "300"), host: { args: ["300"], readyText: "x", startupTimeoutMs: 200 } }
  },
  "agent-unlisted": {}
}

export const AGENT_REFS = Object.keys(agents)

export const profileOf = (agentRef: string) => ({
  agentRef,
  name: `The ${agentRef}`,
  role: "any",
  framework: "custom",
  description: "Made for the contract",
  transportIdentity: `agent://${agentRef}`,
  entrypoint: "agents/run.sh",
  bootstrapStrategy: "external",
  bootstrapMode: "attached",
  tags: ["contract"],
  ...agents[agentRef]?.profile
})

const agentFiles = Object.entries(agents).flatMap(([agentRef, { manifest }]) => [
  [`/packs/_agents/profiles/${agentRef}.json`, JSON.stringify(profileOf(agentRef))],
  ...(manifest === undefined
    ? []
    : [
        [
          `/packs/_agents/manifests/${agentRef}.json`,
          JSON.stringify({ id: agentRef, name: agentRef, framework: "custom", ...manifest })
        ]
      ])
])

/** What the contract is checked on: packs, agents, and what the agents run. */
export const packsTree: MemoryTree = {
  "/agents/run.sh": SCRIPT,
  ...Object.fromEntries(agentFiles),
  "/packs/README.md": "no pack",
  "/packs/_shared/pack.yaml": "no: pack",
  "/packs/cast/pack.yaml": packYaml({ slug: "cast" }),
  ...Object.fromEntries(
    Object.entries(casts).map(([slug, [members, initiator]]) => [
      `/packs/cast/scenarios/${slug}/1.0.0/scenario.yaml`,
      castYaml(members, initiator)
    ])
  ),
  "/packs/demo/pack.yaml": packYaml(),
  "/packs/demo/scenarios/full/1.0.0/scenario.yaml": FULL,
  "/packs/demo/scenarios/full/1.0.0/templates/a.yaml": TEMPLATE,
  "/packs/demo/scenarios/full/1.0.0/templates/b.yml": "kind: ScenarioTemplate\nmetadata: { slug: default }\n",
  "/packs/demo/scenarios/full/1.0.0/templates/c.yaml": "kind: Other\nmetadata: { slug: other }\n",
  "/packs/demo/scenarios/many/2.0.0/scenario.yaml": castYaml([member("two")]),
  "/packs/demo/scenarios/many/10.0.0/scenario.yaml": castYaml([member("ten")]),
  "/packs/demo/scenarios/versionless/readme/notes.txt": "n",
  "/packs/second-dir/pack.yaml": "apiVersion: scenarios.macp.dev/v1\nkind: ScenarioPack\nmetadata: { slug: second }\n"
}
