import { expect } from "vitest"
import { isAlive } from "../fixtures/Roots.ts"
import { contract, frameworkBody, type Seen, UUID_V4 } from "./Contract.ts"
import { profileOf } from "./PacksTree.ts"
import { refused, run } from "./Requests.ts"

const uuid = expect.stringMatching(UUID_V4)
const TRACE_ID = "0af7651916cd43dd8448eb211c80319c"

/** The submissions, without the questions for the ends of earlier runs. */
const submitted = ({ world }: Seen) =>
  world.controlPlane.requests.filter(({ path }) => path === "/runs").map(({ body }) => body)
const minted = ({ world }: Seen) => world.auth.requests.map(({ body }) => body["sender"])
const nothingAsked = (seen: Seen) => expect([submitted(seen), minted(seen)]).toStrictEqual([[], []])

const hosted = (participantId: string, agentRef: string) => ({
  ...profileOf(agentRef),
  role: "member",
  participantId,
  status: "bootstrapped",
  participantMetadata: {
    processAttached: true,
    pid: expect.any(Number),
    launchMode: "adapter",
    adapterFramework: "custom"
  }
})
const unstarted = (participantId: string, agentRef: string) => ({
  ...hosted(participantId, agentRef),
  participantMetadata: { processAttached: false }
})

contract("the launch service: the example flow", [
  run(
    "starts the initiator first, each agent after the other is confirmed, and answers in declaration order",
    "order",
    {
      journal: ["start lead", "ready lead", "start a", "ready a", "start b", "ready b"],
      answer: {
        compiled: expect.objectContaining({ sessionId: uuid, mode: "sandbox" }),
        hostedAgents: [hosted("a", "agent-member"), hosted("b", "agent-member"), hosted("lead", "agent-lead")],
        sessionId: uuid,
        controlPlaneRun: { runId: uuid, sessionId: uuid, status: "queued", traceId: TRACE_ID },
        links: { run: expect.any(String), page: expect.any(String) }
      },
      also: (seen) => {
        const { body, file, world } = seen
        expect(body.links).toStrictEqual({
          run: `${world.controlPlane.url}/runs/${body.sessionId}`,
          page: `${world.controlPlane.url}/console/runs/${body.sessionId}`
        })
        expect([body.sessionId, body.controlPlaneRun.sessionId]).toStrictEqual(Array(2).fill(body.compiled.sessionId))
        expect(minted(seen)).toStrictEqual(["lead", "a", "b"])
        const pids = body.hostedAgents.map((agent: Seen["body"]) => agent.participantMetadata.pid)
        expect(pids).toStrictEqual(["a", "b", "lead"].map((id) => Number(file(`pid-${id}`))))
        expect(pids.every(isAlive)).toBe(true)
      }
    }
  ),
  run("submits to the control plane while the agents are being started", "concurrent", {
    with: { runLabel: "plane waits for the last token" },
    includes: { controlPlaneRun: { status: "queued" } },
    journal: ["start concurrent-first", "ready concurrent-first", "start concurrent-last", "ready concurrent-last"]
  }),
  run("starts no mock and no deferred agent, and mints nothing for them", "mixed", {
    includes: {
      hostedAgents: [unstarted("m", "agent-mock"), unstarted("d", "agent-deferred"), hosted("lead", "agent-lead")]
    },
    journal: ["start lead", "ready lead"],
    also: (seen) => expect(minted(seen).filter((sender) => sender !== "lead")).toStrictEqual([])
  }),
  run("only compiles with bootstrapAgents false: no agents, no tokens, no control plane, no sessionId", "order", {
    with: { bootstrapAgents: false, tags: ["t"], runLabel: "r" },
    answer: { compiled: expect.objectContaining({ sessionId: uuid }), hostedAgents: [] },
    journal: [],
    also: (seen) => {
      nothingAsked(seen)
      expect(seen.body.compiled.runDescriptor.execution.tags).toStrictEqual(["example", "cast", "order", "t"])
      expect(seen.body.compiled.runDescriptor.session.metadata.runLabel).toBe("r")
    }
  }),
  run("runLabel, tags and requester arrive in the run, and the descriptor as it was answered", "unstarted", {
    with: {
      mode: "live",
      runLabel: "nightly",
      tags: ["mine", "example", "mine"],
      requester: { actorId: "me", actorType: "user", secret: "s" },
      submitToControlPlane: false
    },
    also: (seen) => {
      const { runDescriptor } = seen.body.compiled
      expect(submitted(seen)).toStrictEqual([runDescriptor])
      expect(runDescriptor).toMatchObject({ mode: "live", session: { metadata: { runLabel: "nightly" } } })
      expect(runDescriptor.execution).toStrictEqual({
        tags: ["example", "cast", "unstarted", "mine"],
        requester: { actorId: "me", actorType: "user" }
      })
      const [request] = seen.world.controlPlane.requests
      expect(request?.path).toBe("/runs")
      expect(request?.headers["content-type"]).toMatch(/^application\/json/)
      expect(request?.headers).not.toHaveProperty("authorization")
      expect(request?.headers).not.toHaveProperty("x-api-key")
    }
  }),
  run("empty overrides change nothing", "unstarted", {
    with: { runLabel: "", tags: [], requester: null },
    also: ({ body }) => {
      expect(body.compiled.runDescriptor.execution).toStrictEqual({
        tags: ["example", "cast", "unstarted"],
        requester: { actorId: "contract-launcher", actorType: "service" }
      })
      expect(body.compiled.runDescriptor.session.metadata).not.toHaveProperty("runLabel")
    }
  })
])

contract("what an agent is given", [
  run("tokens with the scopes of the initiator and of the others", "order", {
    also: ({ world }) => {
      const scopes = (can_start_sessions: boolean) => ({
        can_start_sessions,
        is_observer: false,
        allowed_modes: ["macp.mode.decision.v1", ""]
      })
      expect(world.auth.requests[0]?.path).toBe("/tokens")
      expect(world.auth.requests.map(({ body }) => body)).toStrictEqual([
        { sender: "lead", ttl_seconds: 3_600, scopes: scopes(true) },
        { sender: "a", ttl_seconds: 3_600, scopes: scopes(false) },
        { sender: "b", ttl_seconds: 3_600, scopes: scopes(false) }
      ])
    }
  }),
  run("a token that lasts again, and bootstrap files with the keys of the format, absent ones left out", "order", {
    also: (seen) => {
      const { body, file } = seen
      expect(minted(seen)).toStrictEqual([])
      const common = (id: string) => ({
        participant_id: id,
        session_id: body.sessionId,
        mode: "macp.mode.decision.v1",
        runtime_url: "runtime.test:50051",
        auth_token: `token-of-${id}`,
        secure: true,
        allow_insecure: false,
        participants: ["a", "b", "lead"],
        mode_version: "1.0.0",
        configuration_version: "config.default",
        cancel_callback: expect.objectContaining({ host: "127.0.0.1", port: 0, path: "/agent/cancel" }),
        // An addition of ours: the owner of the file, so that a later service recognises an orphan.
        launcher: expect.objectContaining({ pid: process.pid }),
        metadata: {
          run_id: body.sessionId,
          scenario_ref: "cast/order@1.0.0",
          role: "member",
          framework: "custom",
          agent_ref: id === "lead" ? "agent-lead" : "agent-member"
        }
      })
      expect(JSON.parse(file("bootstrap-a.json"))).toStrictEqual(common("a"))
      expect(JSON.parse(file("bootstrap-lead.json"))).toStrictEqual({
        ...common("lead"),
        initiator: {
          session_start: {
            intent: "cast/order",
            participants: ["a", "b", "lead"],
            ttl_ms: 60_000,
            mode_version: "1.0.0",
            configuration_version: "config.default"
          }
        }
      })
      // Variables under both prefixes, and none of the service's own keys.
      const lines = file("environment-lead").split("\n")
      for (const prefix of ["MACP", "PROTO"]) {
        for (const variable of [
          "PARTICIPANT_ID=lead",
          `RUN_ID=${body.sessionId}`,
          `SESSION_ID=${body.sessionId}`,
          "FRAMEWORK=custom",
          "RUNTIME_ADDRESS=runtime.test:50051",
          "RUNTIME_TOKEN=token-of-lead",
          "RUNTIME_TLS=true",
          "RUNTIME_ALLOW_INSECURE=false",
          "CANCEL_CALLBACK_PATH=/agent/cancel",
          "LOG_LEVEL=info"
        ]) {
          expect(lines).toContain(`${prefix}_${variable}`)
        }
      }
      expect(lines.filter((line) => /^(PROTO_CONTROL_PLANE|PROTO_AUTH|AUTH_API|npm_|VITEST)/.test(line))).toStrictEqual(
        []
      )
    }
  })
])

contract("the launch service: POST /examples/run: errors", [
  run("an unknown agent is AGENT_NOT_FOUND before anything else happens", "unknown", {
    ...refused(404, "AGENT_NOT_FOUND", "example agent not found: agent-unknown"),
    journal: [],
    also: nothingAsked
  }),
  run("a framework without adapter is INVALID_CONFIG", "foreign", {
    ...refused(500, "INVALID_CONFIG", 'no host adapter registered for framework "mock" (agentRef=agent-foreign)'),
    journal: [],
    also: nothingAsked
  }),
  run("a missing manifest is INVALID_CONFIG", "unlisted", {
    ...refused(500, "INVALID_CONFIG", "agent manifest missing for agent-unlisted"),
    journal: [],
    also: nothingAsked
  }),
  run("a missing manifest that is put there helps at the next request", "unlisted", {
    files: {
      "_agents/manifests/agent-unlisted.json": JSON.stringify({
        id: "agent-unlisted",
        name: "Late",
        framework: "custom",
        entrypoint: { type: "command", value: "/bin/sh" },
        host: { args: ["-c", "echo ready; exec cat"], readyText: "ready" }
      })
    }
  }),
  run("an initiator that exits is AGENT_ATTACH_FAILED at once", "initiator-exits", {
    ...refused(502, "AGENT_ATTACH_FAILED", "agents failed to attach: lead", {
      sessionId: uuid,
      failedParticipants: [
        {
          participantId: "lead",
          agentRef: "agent-exits",
          reason: "process exited before attach confirmed (code=3, signal=null)"
        }
      ]
    }),
    journal: ["exits"],
    also: ({ body, world }) => {
      const [posted, abandoned, ...others] = world.controlPlane.requests
      expect([posted?.path, abandoned?.path, others]).toStrictEqual([
        "/runs",
        `/runs/${body.metadata.sessionId}/abandon`,
        []
      ])
      expect(abandoned?.body).toStrictEqual({
        reason: "agent lead (agent-exits): process exited before attach confirmed (code=3, signal=null)"
      })
    }
  }),
  run("members that exit or hang are AGENT_ATTACH_FAILED together, and the others are ended", "members-fail", {
    ...refused(502, "AGENT_ATTACH_FAILED", "agents failed to attach: x, y", {
      sessionId: uuid,
      failedParticipants: [
        {
          participantId: "x",
          agentRef: "agent-exits",
          reason: "process exited before attach confirmed (code=3, signal=null)"
        },
        { participantId: "y", agentRef: "agent-silent", reason: "process did not confirm attach within 200 ms" }
      ]
    }),
    journal: ["start lead", "ready lead", "exits", "start a", "ready a"],
    also: ({ file }) =>
      expect(["lead", "a"].map((id) => isAlive(Number(file(`pid-${id}`))))).toStrictEqual([false, false])
  }),
  ...(
    [
      [
        "missing",
        "agent-missing",
        "spawn error: there is no ./no-such-executable beside the manifest, in the agents' folder, in the service's root or in Runplane's own folder"
      ],
      ["broken", "agent-broken", "manifest.id is required"],
      ["container", "agent-container", 'entrypoint type "container" cannot be started by this service'],
      [
        "python-on-node",
        "agent-python",
        'langgraph entrypoint type must be python_module or python_file, got "node_file"'
      ]
    ] as const
  ).map(([slug, agentRef, reason]) =>
    run(`${agentRef} is AGENT_ATTACH_FAILED: ${reason}`, slug, {
      ...refused(502, "AGENT_ATTACH_FAILED", "agents failed to attach: x", {
        sessionId: uuid,
        failedParticipants: [{ participantId: "x", agentRef, reason }]
      }),
      journal: [],
      also: nothingAsked
    })
  ),
  ...(
    [
      ["refuses", "auth-service returned 400", { status: 400 }],
      ["closes", /^auth-service request failed: /, undefined],
      ["redirects", /^auth-service request failed: /, undefined],
      ["mumbles", /^auth-service response parse failed: /, undefined],
      ["tokenless", "auth-service response missing token", undefined],
      ["empty", "auth-service response missing token", undefined]
    ] as const
  ).map(([how, message, metadata]) =>
    run(`an auth service that ${how} is AUTH_MINT_FAILED`, `auth-${how}`, {
      ...refused(502, "AUTH_MINT_FAILED", message, metadata),
      journal: []
    })
  ),
  run("an auth service that fails later is AUTH_MINT_FAILED, and the agents started so far are ended", "auth-fails", {
    ...refused(502, "AUTH_MINT_FAILED", "auth-service returned 500", { status: 500 }),
    journal: ["start lead", "ready lead"],
    also: ({ file, text }) => {
      expect(isAlive(Number(file("pid-lead")))).toBe(false)
      expect(text).not.toContain("token-of")
    }
  }),
  run("every error of compilation is one of this route too", "order", {
    with: { templateId: "no" },
    ...refused(404, "TEMPLATE_NOT_FOUND", "template not found: no for cast/order@1.0.0"),
    also: nothingAsked
  }),
  run("a malformed body is answered in the framework's form", "order", {
    with: { bootstrapAgents: "true", tags: [7], requester: [], runLabel: 7 },
    status: 400,
    answer: frameworkBody(400, "Bad Request", [
      "bootstrapAgents must be a boolean value",
      "each value in tags must be a string",
      "requester must be an object",
      "runLabel must be a string"
    ])
  }),
  run("the requester is judged inside, too", "order", {
    with: { requester: { actorId: 5, actorType: "robot" } },
    status: 400,
    answer: frameworkBody(400, "Bad Request", [
      "requester.actorId must be a string",
      "requester.actorType must be one of the following values: user, service, system"
    ]),
    journal: [],
    also: nothingAsked
  }),
  ...[
    ["", "should not be empty"],
    ["  ", "must be a text with at least one visible character"],
    ["a\u200bb", "must be one line without control, direction and zero-width characters"]
  ].map(([idempotencyKey, rule]) =>
    run(`the idempotency key ${JSON.stringify(idempotencyKey)} names no launch`, "order", {
      with: { idempotencyKey },
      status: 400,
      answer: frameworkBody(400, "Bad Request", [`idempotencyKey ${rule}`]),
      journal: [],
      also: nothingAsked
    })
  ),
  run("tags must be an array", "order", {
    with: { tags: "x" },
    status: 400,
    answer: frameworkBody(400, "Bad Request", ["each value in tags must be a string", "tags must be an array"])
  })
])
