import { CORRECT, type MarkTarget, type MarkValue } from "@runplane/domain"
import { useId, useRef, useState } from "react"
import { call } from "../../client/Client.ts"
import { newId } from "../../view/format/NewId.ts"
import { FormDialog, useChange } from "../dialogs/Confirm.tsx"
import { Select } from "../kit.tsx"
import { CommentField, ValueField } from "./MarkFields.tsx"
import { marksKey, useDefinitions } from "./useMarks.ts"

/** A target that the dialog offers, with its name for readers. */
export type OfferedTarget = readonly [target: MarkTarget, title: string]

interface AddMarkDialogProps {
  readonly runId: string
  /** The first one is chosen; `correct` has the decision. */
  readonly targets: ReadonlyArray<OfferedTarget>
  readonly onClose: () => void
}

const DECISION: MarkTarget = { kind: "decision" }

/** Adds a mark: its name, its value by the definition, a comment, and its target. */
export default function AddMarkDialog({ onClose, runId, targets }: AddMarkDialogProps) {
  const definitions = useDefinitions().data ?? []
  const [name, setName] = useState("")
  const [value, setValue] = useState<MarkValue>()
  const [comment, setComment] = useState("")
  const [chosen, setChosen] = useState("0")
  // A repeated attempt has the key of the first one, unless the fields have changed.
  const sent = useRef({ text: "", key: "" })
  const listId = useId()
  const definition = definitions.find((one) => one.name === name)
  const isCorrect = name === CORRECT
  const target = isCorrect ? DECISION : (targets[Number(chosen)]?.[0] ?? DECISION)
  const add = useChange(
    () => {
      if (value === undefined) throw new Error("the mark has no value")
      const given = { target, name, value, source: "human" } as const
      const mark = comment.trim() === "" ? given : { ...given, comment: comment.trim() }
      const text = JSON.stringify(mark)
      if (sent.current.text !== text) sent.current = { text, key: newId() }
      const payload = { ...mark, idempotencyKey: sent.current.key }
      return call((api) => api.marks.add({ params: { id: runId }, payload }))
    },
    [marksKey(runId)],
    onClose
  )
  return (
    <FormDialog
      title="Add a mark"
      button="Add the mark"
      fault="The mark was not stored"
      change={add}
      isReady={name !== "" && value !== undefined}
      onClose={onClose}
    >
      <label className="block">
        <span className="label">Name</span>
        <input
          autoFocus
          required
          list={listId}
          pattern="[A-Za-z][A-Za-z0-9_\-]*"
          maxLength={64}
          autoComplete="off"
          spellCheck={false}
          className="field mt-1 w-full"
          value={name}
          onChange={({ target: field }) => {
            setName(field.value)
            setValue(undefined)
          }}
        />
        <datalist id={listId}>
          {definitions.map((one) => (
            <option key={one.name} value={one.name}>
              {one.description}
            </option>
          ))}
        </datalist>
      </label>
      {definition?.description === undefined ? null : (
        <p dir="auto" className="wrap-anywhere text-soft">
          {definition.description}
        </p>
      )}
      <ValueField key={name} name={name} definition={definition} value={value} onChange={setValue} />
      {isCorrect ? (
        <RightAction value={value} onChange={setValue} />
      ) : (
        <div>
          <span className="label" aria-hidden>
            Target
          </span>
          <Select
            label="Target"
            className="mt-1 block"
            value={chosen}
            options={targets.map(([, title], at) => [String(at), title] as const)}
            onChange={setChosen}
          />
        </div>
      )}
      <CommentField value={comment} onChange={setComment} />
    </FormDialog>
  )
}

/** The action that would have been right, as the value of `correct`. */
const RightAction = ({
  onChange,
  value
}: {
  readonly value: MarkValue | undefined
  readonly onChange: (value: MarkValue | undefined) => void
}) => (
  <label className="block">
    <span className="label">Or the action that would have been right</span>
    <input
      className="field mt-1 w-full"
      maxLength={200}
      value={typeof value === "string" ? value : ""}
      onChange={({ target }) => onChange(target.value === "" ? undefined : target.value)}
    />
  </label>
)
