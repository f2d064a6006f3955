import { expect } from "vitest"
import { contract, type Seen, UUID_V4 } from "./Contract.ts"
import { refused, run } from "./Requests.ts"

const uuid = expect.stringMatching(UUID_V4)

const submitted = ({ world }: Seen) => world.controlPlane.requests.map(({ body }) => body)
const submittedFor = (seen: Seen) =>
  submitted(seen).filter((body) => JSON.stringify(body).includes(JSON.stringify(seen.body.sessionId)))
const nothingAsked = (seen: Seen) => expect([submitted(seen), seen.world.auth.requests]).toStrictEqual([[], []])

contract("the launch service: controlPlaneRun", [
  ...[
    "plane rejects",
    "plane knows the session",
    "plane fails",
    "plane limits",
    "plane closes",
    "plane redirects",
    "plane mumbles",
    "plane answers a list",
    "plane leaves the run id out",
    "plane sends an empty run id",
    "plane leaves the status out",
    "plane answers for another session"
  ].map((runLabel) =>
    run(`is absent when the ${runLabel.replace("plane", "control plane")}, asked once`, "unstarted", {
      with: { runLabel },
      includes: { sessionId: uuid, hostedAgents: [{ status: "bootstrapped" }, { status: "bootstrapped" }] },
      lacks: ["controlPlaneRun"],
      // Those of earlier requests may be submitted again meanwhile.
      also: (seen) => expect(submittedFor(seen)).toHaveLength(1)
    })
  )
])

contract(
  "the control plane's key",
  [
    run("is sent as a bearer", "unstarted", {
      also: ({ world }) =>
        expect(world.controlPlane.requests[0]?.headers["authorization"]).toBe("Bearer key-of-the-plane")
    })
  ],
  { env: { PROTO_CONTROL_PLANE_API_KEY: "key-of-the-plane" } }
)

contract(
  "the launch service: without a control plane",
  [
    run("controlPlaneRun is absent", "unstarted", {
      includes: { sessionId: uuid },
      lacks: ["controlPlaneRun"],
      also: nothingAsked
    })
  ],
  { env: { PROTO_CONTROL_PLANE_URL: "" } }
)

contract(
  "the launch service: with neighbours that are not there",
  [
    run("controlPlaneRun is absent", "unstarted", { includes: { sessionId: uuid }, lacks: ["controlPlaneRun"] }),
    run("AUTH_MINT_FAILED, without a fallback", "order", {
      ...refused(502, "AUTH_MINT_FAILED", /^auth-service request failed: /),
      journal: []
    })
  ],
  { env: { PROTO_CONTROL_PLANE_URL: "http://127.0.0.1:9", PROTO_AUTH_SERVICE_URL: "http://127.0.0.1:9" } }
)

contract(
  "the launch service: AUTO_BOOTSTRAP_EXAMPLE_AGENTS off",
  [
    run("nothing is started unless the request says so", "order", {
      answer: { compiled: expect.anything(), hostedAgents: [] },
      journal: [],
      also: nothingAsked
    }),
    run("bootstrapAgents true has the last word", "mixed", {
      with: { bootstrapAgents: true },
      includes: { sessionId: uuid },
      journal: ["start lead", "ready lead"]
    })
  ],
  { env: { AUTO_BOOTSTRAP_EXAMPLE_AGENTS: "false" } }
)

contract(
  "the launch service: with neighbours that do not answer in time",
  [
    ...["hangs", "stalls"].map((how) =>
      run(`controlPlaneRun is absent when the control plane ${how}`, "unstarted", {
        with: { runLabel: `plane ${how}` },
        includes: { sessionId: uuid },
        lacks: ["controlPlaneRun"]
      })
    ),
    ...["hangs", "stalls"].map((how) =>
      run(`an auth service that ${how} is AUTH_MINT_FAILED`, `auth-${how}`, {
        ...refused(502, "AUTH_MINT_FAILED", /^auth-service (request|response parse) failed: /),
        journal: []
      })
    )
  ],
  { env: { PROTO_CONTROL_PLANE_TIMEOUT_MS: "200", PROTO_AUTH_SERVICE_TIMEOUT_MS: "200" } }
)
