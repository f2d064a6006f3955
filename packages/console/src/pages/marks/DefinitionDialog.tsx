import type { MarkDefinition } from "@runplane/domain"
import { useState } from "react"
import { call } from "../../client/Client.ts"
import { FormDialog, useChange } from "../../ui/dialogs/Confirm.tsx"
import { Select } from "../../ui/kit.tsx"
import { DEFINITIONS_KEY } from "../../ui/marks/useMarks.ts"

interface DefinitionDialogProps {
  readonly definition?: MarkDefinition
  readonly onClose: () => void
}

const KINDS = [
  ["number", "a number"],
  ["flag", "true or false"],
  ["category", "a category"]
] as const

const BETTER = {
  number: [
    ["", "no value is better"],
    ["higher", "higher is better"],
    ["lower", "lower is better"]
  ],
  flag: [
    ["", "no value is better"],
    ["true", "true is better"],
    ["false", "false is better"]
  ],
  category: [
    ["", "no category is better"],
    ["first", "the first is the best"]
  ]
} as const

type Better = "" | NonNullable<MarkDefinition["better"]>

const numberOf = (text: string): number | undefined => (text.trim() === "" ? undefined : Number(text))

/** Adds a definition, or changes one. */
export default function DefinitionDialog({ definition, onClose }: DefinitionDialogProps) {
  const [name, setName] = useState(definition?.name ?? "")
  const [kind, setKind] = useState(definition?.kind ?? "number")
  const [min, setMin] = useState(String(definition?.min ?? ""))
  const [max, setMax] = useState(String(definition?.max ?? ""))
  const [categories, setCategories] = useState((definition?.categories ?? []).join("\n"))
  const [better, setBetter] = useState<Better>(definition?.better ?? "")
  const [description, setDescription] = useState(definition?.description ?? "")
  const listed = categories
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
  const [least, most] = [numberOf(min), numberOf(max)]
  const save = useChange(
    () =>
      call((api) =>
        api.marks.define({
          params: { name },
          payload: {
            kind,
            ...(kind === "number" && least !== undefined && { min: least }),
            ...(kind === "number" && most !== undefined && { max: most }),
            ...(kind === "category" && { categories: listed }),
            ...(better !== "" && { better }),
            ...(description.trim() !== "" && { description: description.trim() })
          }
        })
      ),
    [DEFINITIONS_KEY],
    onClose
  )
  return (
    <FormDialog
      title={definition === undefined ? "Add a definition" : `Change ${definition.name}`}
      button={definition === undefined ? "Add" : "Save"}
      fault="The definition was not stored"
      change={save}
      isReady={name !== "" && (kind !== "category" || listed.length > 0)}
      onClose={onClose}
    >
      {definition === undefined ? (
        <label className="block">
          <span className="label">Name</span>
          <input
            autoFocus
            required
            pattern="[A-Za-z][A-Za-z0-9_\-]*"
            maxLength={64}
            autoComplete="off"
            spellCheck={false}
            className="field mt-1 w-full"
            placeholder="quality"
            value={name}
            onChange={({ target }) => setName(target.value)}
          />
        </label>
      ) : null}
      <div className="flex flex-wrap gap-2">
        <Select
          label="Kind"
          value={kind}
          options={KINDS}
          onChange={(next) => {
            setKind(next)
            setBetter("")
          }}
        />
        <Select<Better> label="Better" value={better} options={BETTER[kind]} onChange={setBetter} />
      </div>
      {kind === "number" ? (
        <div className="flex flex-wrap gap-3">
          <NumberInput label="Smallest" value={min} onChange={setMin} />
          <NumberInput label="Largest" value={max} onChange={setMax} />
        </div>
      ) : kind === "category" ? (
        <label className="block">
          <span className="label">Categories, one a line, in their order</span>
          <textarea
            rows={4}
            className="field mt-1 w-full"
            value={categories}
            onChange={({ target }) => setCategories(target.value)}
          />
        </label>
      ) : null}
      <label className="block">
        <span className="label">Description (optional)</span>
        <textarea
          rows={2}
          dir="auto"
          maxLength={1_000}
          className="field mt-1 w-full"
          value={description}
          onChange={({ target }) => setDescription(target.value)}
        />
      </label>
    </FormDialog>
  )
}

interface NumberInputProps {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
}

const NumberInput = ({ label, onChange, value }: NumberInputProps) => (
  <label className="flex items-center gap-2">
    <span className="label">{label}</span>
    <input
      type="number"
      step="any"
      className="field w-[110px]"
      placeholder="any"
      value={value}
      onChange={({ target }) => onChange(target.value)}
    />
  </label>
)
