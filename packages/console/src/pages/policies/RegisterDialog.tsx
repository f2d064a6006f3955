import { jsonFault, jsonFaultText, policyRuleFaults } from "@runplane/domain"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { useMemo, useState } from "react"
import { call } from "../../client/Client.ts"
import { CallFailed } from "../../client/Problem.ts"
import { FormDialog, useChange } from "../../ui/dialogs/Confirm.tsx"
import { Select } from "../../ui/kit.tsx"
import { modeLabel } from "../../view/format/Format.ts"

const MODES = [
  "macp.mode.decision.v1",
  "macp.mode.proposal.v1",
  "macp.mode.task.v1",
  "macp.mode.handoff.v1",
  "macp.mode.quorum.v1",
  "*"
] as const

const START = `{
  "voting": { "algorithm": "majority", "threshold": 0.5, "quorum": { "type": "count", "value": 2 } },
  "commitment": { "authority": "initiator_only", "require_vote_quorum": true }
}`

const readRules = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.JsonObject))

/**
 * Registers a policy. The function of the service checks the rules while they are typed, so each fault is shown with
 * its path before the request.
 */
export default function RegisterDialog({ onClose }: { readonly onClose: () => void }) {
  const [policyId, setPolicyId] = useState("")
  const [mode, setMode] = useState<(typeof MODES)[number]>("macp.mode.decision.v1")
  const [description, setDescription] = useState("")
  const [version, setVersion] = useState<"1" | "2" | "3">("3")
  const [text, setText] = useState(START)
  const rules = useMemo(() => Option.getOrUndefined(readRules(text)), [text])
  const faults = useMemo(() => {
    const fault = jsonFault(text)
    if (fault !== undefined) return [jsonFaultText(fault)]
    return rules === undefined ? ["the rules are not a JSON object"] : policyRuleFaults(mode, rules)
  }, [text, rules, mode])
  const register = useChange(
    async () => {
      const answer = await call((api) =>
        api.policies.register({
          payload: {
            policyId: policyId.trim(),
            mode,
            description,
            rules: rules ?? {},
            schemaVersion: version === "1" ? 1 : version === "2" ? 2 : 3
          }
        })
      )
      if (!answer.ok) throw refused(answer.error)
    },
    [["policies"]],
    onClose
  )
  return (
    <FormDialog
      title="Register a policy"
      button="Register"
      fault="The policy was not registered"
      change={register}
      isReady={policyId.trim() !== "" && faults.length === 0}
      onClose={onClose}
    >
      <label className="block">
        <span className="label">Id</span>
        <input
          autoFocus
          className="field mt-1 w-full font-mono"
          placeholder="policy.team.purpose"
          value={policyId}
          onChange={({ target }) => setPolicyId(target.value)}
        />
      </label>
      <div className="flex gap-3">
        <span className="flex-1">
          <span aria-hidden className="label">
            Mode
          </span>
          <Select
            label="Mode"
            className="mt-1 block"
            value={mode}
            options={MODES.map((name) => [name, name === "*" ? "Any mode" : modeLabel(name)] as const)}
            onChange={setMode}
          />
        </span>
        <span className="flex-1">
          <span aria-hidden className="label">
            Schema version
          </span>
          <Select
            label="Schema version"
            className="mt-1 block"
            value={version}
            options={[
              ["3", "Version 3: no votes, no decision"],
              ["2", "Version 2"],
              ["1", "Version 1"]
            ]}
            onChange={setVersion}
          />
        </span>
      </div>
      <label className="block">
        <span className="label">Purpose</span>
        <input
          className="field mt-1 w-full"
          value={description}
          onChange={({ target }) => setDescription(target.value)}
        />
      </label>
      <label className="block">
        <span className="label">Rules, as JSON</span>
        <textarea
          rows={9}
          spellCheck={false}
          className="field mt-1 w-full font-mono text-[12px]"
          aria-invalid={faults.length > 0}
          aria-describedby="rule-faults"
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
      </label>
      <ul id="rule-faults" aria-live="polite" className="text-bad">
        {faults.map((fault) => (
          <li key={fault} className="font-mono text-[12px] wrap-anywhere">
            {fault}
          </li>
        ))}
      </ul>
    </FormDialog>
  )
}

/** The runtime's refusal comes in an answer with status 200. */
const refused = (why: string | undefined) =>
  new CallFailed({
    status: 0,
    code: "RUNTIME_REFUSED",
    messages: [why ?? "the runtime gave no reason"],
    requestId: "",
    metadata: undefined
  })
