import { assert, describe, it } from "@effect/vitest"
import { TaskMode as Wire } from "@runplane/runtime"
import * as Result from "effect/Result"
import { commitmentPayload, encode } from "../support/Envelopes.ts"
import { type Opening, openSession, policyOf, startOf } from "../support/Sessions.ts"
import { lastVerdict, type Step } from "../support/Steps.ts"

const risk = "agent://risk"
const ops = "agent://ops"
const stranger = "agent://stranger"
const mode = "macp.mode.task.v1"
const garbage = new Uint8Array([255, 255, 255])

const request = (requestedAssignee = "", taskId = "t1") =>
  encode(Wire.TaskRequestPayloadSchema, { taskId, requestedAssignee, title: "build" })
const accept = (assignee = "", taskId = "t1") => encode(Wire.TaskAcceptPayloadSchema, { taskId, assignee })
const reject = (assignee = "", taskId = "t1") => encode(Wire.TaskRejectPayloadSchema, { taskId, assignee })
const update = (taskId = "t1") => encode(Wire.TaskUpdatePayloadSchema, { taskId, progress: 0.5 })
const complete = (output = "", assignee = "", taskId = "t1") =>
  encode(Wire.TaskCompletePayloadSchema, { taskId, assignee, output: new TextEncoder().encode(output) })
const fail = (assignee = "", taskId = "t1") => encode(Wire.TaskFailPayloadSchema, { taskId, assignee })
const commit = (action = "task.completed") =>
  commitmentPayload({ action, policyVersion: "", outcomePositive: action !== "task.failed" })

const R: Step = ["TaskRequest", request()]
const A: Step = ["TaskAccept", accept(), risk]
const J: Step = ["TaskReject", reject(), risk]
const DONE: Step = ["TaskComplete", complete("ok"), risk]
const YES: Step = ["Commitment", commit()]
const NO: Step = ["Commitment", commit("task.failed")]

const open = (opening: Opening = {}) =>
  openSession({ mode, payload: { participants: ["agent://lead", risk, ops] }, ...opening })
const withRules = (rules: object): Opening => ({ policy: policyOf(rules) })
const reassigning = withRules({ assignment: { allow_reassignment_on_reject: true } })

describe("task mode", () => {
  const cases: ReadonlyArray<readonly [string, ReadonlyArray<Step>, string, Opening?]> = [
    ["accepts a request of the initiator", [R], "ok"],
    ["refuses a request of another sender", [["TaskRequest", request(), risk]], "FORBIDDEN"],
    ["refuses a second request", [R, ["TaskRequest", request("", "t2")]], "INVALID_ENVELOPE"],
    ["refuses an empty task id", [["TaskRequest", request("", "")]], "INVALID_ENVELOPE"],
    ["refuses an assignee who takes no part", [["TaskRequest", request(stranger)]], "INVALID_ENVELOPE"],
    ["refuses bytes that are no request", [["TaskRequest", garbage]], "INVALID_ENVELOPE"],
    ["lets a participant accept", [R, A], "ok"],
    ["refuses an acceptance before the request", [A], "INVALID_ENVELOPE"],
    ["refuses an acceptance of another task", [R, ["TaskAccept", accept("", "t9"), risk]], "INVALID_ENVELOPE"],
    ["refuses an acceptance of a stranger", [R, ["TaskAccept", accept(), stranger]], "FORBIDDEN"],
    ["refuses an acceptance of the initiator", [R, ["TaskAccept", accept()]], "FORBIDDEN"],
    [
      "lets the initiator accept when it named itself",
      [
        ["TaskRequest", request("agent://lead")],
        ["TaskAccept", accept()]
      ],
      "ok"
    ],
    ["refuses an acceptance of a participant that is not named", [["TaskRequest", request(ops)], A], "FORBIDDEN"],
    ["refuses an acceptance for another participant", [R, ["TaskAccept", accept(ops), risk]], "INVALID_ENVELOPE"],
    ["refuses an acceptance while an assignee is active", [R, A, ["TaskAccept", accept(), ops]], "INVALID_ENVELOPE"],
    ["lets another participant accept a declined task", [R, J, ["TaskAccept", accept(), ops]], "ok"],
    [
      "leaves that to the policy in older releases",
      [R, J, ["TaskAccept", accept(), ops]],
      "POLICY_DENIED",
      { release: "0.7.6" }
    ],
    [
      "refuses an acceptance of a participant that declined, whatever the policy",
      [R, J, A],
      "INVALID_ENVELOPE",
      reassigning
    ],
    ["declines a task that the only one asked has declined", [["TaskRequest", request(risk)], J, NO], "ok"],
    ["does not complete such a task", [["TaskRequest", request(risk)], J, YES], "INVALID_ENVELOPE"],
    [
      "declines it in older releases only with a report",
      [["TaskRequest", request(risk)], J, NO],
      "INVALID_ENVELOPE",
      { release: "0.7.6" }
    ],
    ["reassigns when the policy allows it", [R, J, ["TaskAccept", accept(), ops]], "ok", reassigning],
    ["lets a participant reject", [R, J], "ok"],
    ["refuses a second rejection of one sender", [R, J, J], "INVALID_ENVELOPE"],
    ["refuses a rejection of another task", [R, ["TaskReject", reject("", "t9"), risk]], "INVALID_ENVELOPE"],
    ["refuses a rejection while another assignee is active", [R, A, ["TaskReject", reject(), ops]], "INVALID_ENVELOPE"],
    ["refuses a rejection for another participant", [R, ["TaskReject", reject(ops), risk]], "INVALID_ENVELOPE"],
    ["refuses a rejection of a participant that is not named", [["TaskRequest", request(ops)], J], "FORBIDDEN"],
    ["refuses that the active assignee gives up, by policy", [R, A, J], "POLICY_DENIED"],
    ["calls that malformed in newer releases", [R, A, J], "INVALID_ENVELOPE", { release: "0.13.2" }],
    ["calls it malformed still later", [R, A, J], "INVALID_ENVELOPE", { release: "0.14.0" }],
    ["calls an annotation malformed", [R, ["SessionCancel", reject()]], "INVALID_ENVELOPE"],
    ["forbids an annotation from 0.14.0", [R, ["SessionCancel", reject()]], "FORBIDDEN", { release: "0.14.0" }],
    [
      "frees the task when the active assignee may give up",
      [R, A, J, ["TaskAccept", accept(), ops]],
      "ok",
      reassigning
    ],
    ["accepts an update of the assignee", [R, A, ["TaskUpdate", update(), risk]], "ok"],
    ["refuses an update of another sender", [R, A, ["TaskUpdate", update(), ops]], "FORBIDDEN"],
    ["refuses an update before an assignee is active", [R, ["TaskUpdate", update(), risk]], "FORBIDDEN"],
    ["refuses an update of another task", [R, A, ["TaskUpdate", update("t9"), risk]], "INVALID_ENVELOPE"],
    ["refuses an update after the report", [R, A, DONE, ["TaskUpdate", update(), risk]], "FORBIDDEN"],
    ["accepts a completion of the assignee", [R, A, DONE], "ok"],
    ["refuses a completion of another sender", [R, A, ["TaskComplete", complete(), ops]], "FORBIDDEN"],
    [
      "refuses a completion for another participant",
      [R, A, ["TaskComplete", complete("", ops), risk]],
      "INVALID_ENVELOPE"
    ],
    ["refuses a second report", [R, A, DONE, ["TaskFail", fail(), risk]], "FORBIDDEN"],
    ["accepts a failure of the assignee", [R, A, ["TaskFail", fail(), risk]], "ok"],
    ["refuses a failure of another task", [R, A, ["TaskFail", fail("", "t9"), risk]], "INVALID_ENVELOPE"],
    ["refuses a commitment without a report", [R, A, YES], "INVALID_ENVELOPE"],
    ["commits a completion", [R, A, DONE, YES], "ok"],
    ["commits a failure", [R, A, ["TaskFail", fail(), risk], NO], "ok"],
    [
      "refuses a positive commitment without the output that the policy requires",
      [R, A, ["TaskComplete", complete(), risk], YES],
      "POLICY_DENIED",
      withRules({ completion: { require_output: true } })
    ],
    ["commits with the output", [R, A, DONE, YES], "ok", withRules({ completion: { require_output: true } })],
    [
      "refuses a positive commitment over a failure when output is required",
      [R, A, ["TaskFail", fail(), risk], YES],
      "POLICY_DENIED",
      withRules({ completion: { require_output: true } })
    ],
    [
      "requires no output to decline",
      [R, A, ["TaskFail", fail(), risk], NO],
      "ok",
      withRules({ completion: { require_output: true } })
    ]
  ]
  for (const [name, steps, expected, opening] of cases) {
    it(name, () => assert.strictEqual(lastVerdict(open(opening), steps), expected))
  }

  it("does not start without a participant to do the task", () => {
    assert.isTrue(Result.isFailure(startOf({ mode, payload: { participants: ["agent://lead"] } })))
  })

  it("starts with an initiator that is not a participant", () => {
    const session = open({ payload: { participants: [risk] } })
    assert.strictEqual(lastVerdict(session, [R, A, DONE, YES]), "ok")
    assert.strictEqual(session.inspectMode()["terminal_report"], "completed")
  })
})
