import { expect } from "vitest"
import { scenarioYaml } from "../fixtures/Packs.ts"
import { contract, type Statement, UUID_V4 } from "./Contract.ts"
import { compile, FULL_FILE as FILE, FULL_REF as REF, refused } from "./Requests.ts"

const uuid = expect.stringMatching(UUID_V4)

/** Compiles the scenario `demo/full` made of these parts instead. */
const compileOf = (says: string, launch: string, over: Partial<Statement> = {}): Statement =>
  compile(
    says,
    { inputs: { n: 5, o: { p: null }, l: ["x"] } },
    { files: { [FILE]: scenarioYaml({ launch }) }, ...over }
  )

const ids = ["one", "lead"]
const address = { city: "Aby" }

contract("the launch service: CompileLaunchResult", [
  compile(
    "is exactly what the field map says",
    {},
    {
      answer: {
        sessionId: uuid,
        mode: "sandbox",
        runDescriptor: {
          mode: "sandbox",
          runtime: { kind: "rust", version: "v2" },
          session: {
            sessionId: uuid,
            modeName: "macp.mode.decision.v1",
            modeVersion: "1.0.0",
            configurationVersion: "config.full",
            policyVersion: "policy.full",
            ttlMs: 120_000,
            participants: ids.map((id) => ({ id })),
            metadata: {
              source: "contract-launcher",
              sourceRef: REF,
              scenarioRef: REF,
              templateId: "default",
              environment: "test",
              intent: "decide for C-7",
              mine: [1, 10]
            }
          },
          execution: {
            idempotencyKey: "key {{ inputs.customer }}",
            tags: ["example", "demo", "full", "exec", "everything"],
            requester: { actorId: "desk", actorType: "user" }
          }
        },
        initiator: {
          participantId: "lead",
          sessionStart: {
            intent: "decide for C-7",
            participants: ids,
            ttlMs: 120_000,
            maxSuspendMs: 5_000,
            modeVersion: "1.0.0",
            configurationVersion: "config.full",
            policyVersion: "policy.full",
            contextId: "ctx {{ inputs.customer }}",
            extensions: { "a.b": "eA==" }
          },
          kickoff: {
            messageType: "Proposal",
            payloadType: "macp.modes.decision.v1.ProposalPayload",
            payload: { proposal_id: "p-C-7" }
          }
        },
        scenarioMeta: {
          policyHints: { type: "majority", threshold: 0.5, designatedRoles: ["reviewer"] },
          sessionContext: {
            customer: "C-7",
            amount: 10,
            express: false,
            address,
            list: ["x", "y"],
            text: `C-7 wants 10 to ${JSON.stringify(address)} with ["x","y"]`,
            city: "Aby",
            second: "y",
            filtered: "{{ inputs.customer | upper }}",
            spaced: " 10 ",
            "{{ inputs.customer }}": "a key",
            nothing: null,
            number: 7,
            deep: [{ at: 10 }]
          },
          initiatorParticipantId: "lead"
        },
        display: { title: "Full Scenario", scenarioRef: REF, expectedDecisionKinds: ["go", "stay"] },
        participantBindings: [
          { participantId: "one", role: "reviewer", agentRef: "agent-member" },
          { participantId: "lead", role: "", agentRef: "agent-lead" }
        ]
      },
      also: ({ body }) => expect(body.runDescriptor.session.sessionId).toBe(body.sessionId)
    }
  ),
  compile(
    "has no executionRequest, commitments or context of the session start",
    {},
    {
      lacks: ["executionRequest", "commitments", "initiator.sessionStart.context", "runDescriptor.session.commitments"],
      also: ({ text }) => expect(text).not.toContain("inputs.never")
    }
  ),
  compile(
    "leaves out every key without a value, and starts with the first participant",
    {
      scenarioRef: "demo/many@10.0.0",
      inputs: {}
    },
    {
      answer: {
        sessionId: uuid,
        mode: "sandbox",
        runDescriptor: {
          mode: "sandbox",
          runtime: { kind: "rust", version: "v1" },
          session: {
            sessionId: uuid,
            modeName: "macp.mode.decision.v1",
            modeVersion: "1.0.0",
            configurationVersion: "config.default",
            ttlMs: 60_000,
            participants: [{ id: "ten" }],
            metadata: {
              source: "contract-launcher",
              sourceRef: "demo/many@10.0.0",
              scenarioRef: "demo/many@10.0.0",
              templateId: "default",
              environment: "test"
            }
          },
          execution: {
            tags: ["example", "demo", "many"],
            requester: { actorId: "contract-launcher", actorType: "service" }
          }
        },
        initiator: {
          participantId: "ten",
          sessionStart: {
            intent: "demo/many",
            participants: ["ten"],
            ttlMs: 60_000,
            modeVersion: "1.0.0",
            configurationVersion: "config.default"
          }
        },
        scenarioMeta: { initiatorParticipantId: "ten" },
        display: { title: "Cast", scenarioRef: "demo/many@10.0.0" },
        participantBindings: [{ participantId: "ten", role: "member", agentRef: "agent-member" }]
      }
    }
  ),
  compile(
    "has no initiator without participants",
    { scenarioRef: "cast/empty@1.0.0", inputs: {} },
    {
      lacks: ["initiator", "scenarioMeta.initiatorParticipantId"],
      includes: { participantBindings: [], scenarioMeta: {} }
    }
  ),
  compileOf(
    "starts with the sender of the first kickoff without a declared one",
    "kickoffTemplate: [{ from: second }]",
    {
      includes: {
        initiator: { participantId: "second", kickoff: { messageType: "Signal", payload: {} } },
        scenarioMeta: { initiatorParticipantId: "second" }
      }
    }
  ),
  compile(
    "is in the requested mode",
    { mode: "live" },
    {
      includes: { mode: "live", runDescriptor: { mode: "live" } }
    }
  ),
  compile(
    "takes a template's defaults, runtime, launch and execution",
    {
      templateId: "small",
      inputs: { amount: 6, mail: "a@b.example" }
    },
    {
      status: 400,
      includes: { errorCode: "VALIDATION_ERROR" }
    }
  ),
  compile(
    "takes a template whose defaults pass, the request's inputs last",
    {
      templateId: "small",
      inputs: { amount: 6 }
    },
    {
      files: {
        "demo/scenarios/full/1.0.0/templates/a.yaml":
          "kind: ScenarioTemplate\nmetadata: { slug: small }\nspec: { defaults: { customer: C-1, amount: 5, address: { city: B } }, overrides: { runtime: { version: v3 }, launch: { ttlMs: 1000, policyHints: { threshold: 0.7 } }, execution: { tags: [fast] } } }"
      },
      includes: {
        runDescriptor: {
          runtime: { kind: "rust", version: "v3" },
          session: { ttlMs: 1_000, metadata: { templateId: "small" } },
          execution: { tags: ["example", "demo", "full", "fast", "everything", "exec"] }
        },
        scenarioMeta: {
          policyHints: { type: "majority", threshold: 0.7, designatedRoles: ["reviewer"] },
          sessionContext: { customer: "C-1", amount: 6, address: { city: "B" } }
        },
        display: { templateId: "small" }
      }
    }
  ),
  compile(
    "takes null for an absent template and mode",
    { templateId: null, mode: null },
    {
      includes: { mode: "sandbox" },
      lacks: ["display.templateId"]
    }
  ),
  compile(
    "drops unknown fields of the body",
    { controlPlane: { submit: false }, runLabel: "x", __proto__x: 1 },
    {
      lacks: ["runDescriptor.session.metadata.runLabel"]
    }
  ),
  compile("compiles with an unknown agent", { scenarioRef: "cast/unknown@1.0.0", inputs: {} }),
  compile(
    "shows a changed scenario at the next request",
    { inputs: {} },
    {
      files: { [FILE]: scenarioYaml({ metadata: "summary: changed" }) },
      includes: { display: { title: "One" } }
    }
  )
])

contract("placeholders", [
  compileOf(
    "keep the type of a value that is the whole text",
    'contextTemplate: { n: "{{ inputs.n }}", o: "{{ inputs.o }}" }',
    {
      includes: { scenarioMeta: { sessionContext: { n: 5, o: { p: null } } } }
    }
  ),
  compileOf("may lead to null", 'contextTemplate: { n: "{{ inputs.o.p }}", t: "is {{ inputs.o.p }}" }', {
    includes: { scenarioMeta: { sessionContext: { n: null, t: "is null" } } }
  }),
  ...[
    "inputs.none",
    "inputs.n.deeper",
    "inputs.l.1",
    "inputs.l.length",
    "inputs.constructor",
    "other",
    "inputs.__proto__"
  ].map((path) =>
    compileOf(`that lead nowhere are COMPILATION_ERROR (${path})`, `contextTemplate: { n: "{{ ${path} }}" }`, {
      ...refused(400, "COMPILATION_ERROR", `undefined placeholder: {{ ${path} }}`)
    })
  ),
  compileOf("are checked in a second kickoff too", 'kickoffTemplate: [{}, { payload: { a: "{{ inputs.x }}" } }]', {
    ...refused(400, "COMPILATION_ERROR", "undefined placeholder: {{ inputs.x }}")
  })
])

contract("launch blocks", [
  ...["value", "[a]", "7", '""'].map((value) =>
    compileOf(`extensions that are no map are COMPILATION_ERROR (${value})`, `extensions: ${value}`, {
      ...refused(400, "COMPILATION_ERROR", /^launch\.extensions must be a mapping of string values, got /)
    })
  ),
  compileOf("an extension that is not a text is COMPILATION_ERROR", "extensions: { a: 7 }", {
    ...refused(400, "COMPILATION_ERROR", "launch.extensions.a must be a base64-encoded string, got number")
  }),
  compileOf("extensions may be null", "extensions: null", { lacks: ["initiator.sessionStart.extensions"] }),
  compileOf(
    "a kickoff takes its payload from the first key that has one",
    "kickoffTemplate: [{ payloadEnvelope: { json: { a: 1 }, proto: { typeName: my.Type, value: { b: 2 } } } }]",
    { includes: { initiator: { kickoff: { messageType: "Signal", payloadType: "my.Type", payload: { a: 1 } } } } }
  ),
  compileOf("an empty list of kickoffs is none", "kickoffTemplate: []", { lacks: ["initiator.kickoff"] })
])
