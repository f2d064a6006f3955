import type { MarkDefinition } from "@runplane/domain"
import { Plus } from "lucide-react"
import { Suspense } from "react"
import { call } from "../../client/Client.ts"
import { Chip, UserText } from "../../ui/basics.tsx"
import { Confirm, DialogButton } from "../../ui/dialogs/Confirm.tsx"
import { useTitle } from "../../ui/hooks.ts"
import { Loaded, Panel, Sheet, Table, type TableColumn, TextLink } from "../../ui/kit.tsx"
import { lazily } from "../../ui/lazily.ts"
import { DEFINITIONS_KEY, useDefinitions } from "../../ui/marks/useMarks.ts"
import { Empty } from "../../ui/States.tsx"
import { useMay } from "../../ui/useMe.ts"
import { counted } from "../../view/format/Format.ts"
import { betterText } from "../../view/marks/MarkColumns.ts"
import { Agreement } from "./Agreement.tsx"

const DefinitionDialog = lazily(() => import("./DefinitionDialog.tsx"))

/** The definitions of marks, and how far their raters agree. */
export default function MarksPage() {
  useTitle("Marks")
  const definitions = useDefinitions()
  const isAdmin = useMay()("admin")
  return (
    <Sheet
      title="Marks"
      note={definitions.data === undefined ? undefined : counted(definitions.data.length, "definition")}
      actions={
        <>
          <TextLink href="/review">Review queue</TextLink>
          {isAdmin ? (
            <DialogButton
              dialog={(close) => (
                <Suspense fallback={null}>
                  <DefinitionDialog onClose={close} />
                </Suspense>
              )}
            >
              <Plus size={14} aria-hidden /> Add a definition
            </DialogButton>
          ) : null}
        </>
      }
    >
      <Panel title="Definitions">
        <Loaded read={definitions} what="The definitions cannot be read" rows={4} height={36}>
          {(rows) =>
            rows.length === 0 ? (
              <Empty title="No definitions yet">A definition says which values the marks of a name have.</Empty>
            ) : (
              <Table
                label="Definitions"
                rows={rows}
                keyOf={({ name }) => name}
                columns={isAdmin ? [...COLUMNS, actions] : COLUMNS}
              />
            )
          }
        </Loaded>
      </Panel>
      <Agreement />
    </Sheet>
  )
}

/** The values of a definition, for readers. */
const valuesText = ({ categories = [], kind, max, min }: MarkDefinition): string => {
  if (kind === "flag") return "true, false"
  if (kind === "category") return categories.join(", ")
  return min === undefined && max === undefined ? "any number" : `${min ?? "any"} to ${max ?? "any"}`
}

const COLUMNS: ReadonlyArray<TableColumn<MarkDefinition>> = [
  {
    title: "Name",
    className: "max-w-[220px] min-w-[84px]",
    cell: ({ name, reserved }) => (
      <span className="flex flex-wrap items-baseline gap-x-2 font-medium">
        <UserText text={name} /> {reserved ? <Chip>reserved</Chip> : null}
      </span>
    )
  },
  { title: "Kind", cell: ({ kind }) => kind, from: "sm" },
  {
    title: "Values",
    className: "max-w-[320px]",
    cell: (definition) => <UserText text={valuesText(definition)} />
  },
  { title: "Better", cell: ({ better }) => betterText(better) ?? "–", from: "md" },
  {
    title: "Description",
    from: "lg",
    className: "max-w-[420px]",
    cell: ({ description }) => (description === undefined ? "–" : <UserText text={description} />)
  }
]

const actions: TableColumn<MarkDefinition> = {
  title: "Change",
  align: "right",
  cell: (definition) =>
    definition.reserved ? null : (
      <span className="inline-flex gap-1.5">
        <DialogButton
          dialog={(close) => (
            <Suspense fallback={null}>
              <DefinitionDialog definition={definition} onClose={close} />
            </Suspense>
          )}
        >
          Change
        </DialogButton>
        <DialogButton
          className="btn btn-bad"
          dialog={(close) => (
            <Confirm
              title="Remove the definition"
              button="Remove"
              fault="The definition was not removed"
              isHarmful
              act={() => call((api) => api.marks.undefine({ params: { name: definition.name } }))}
              renews={[DEFINITIONS_KEY]}
              onClose={close}
            >
              <p>
                Marks with the name <strong>{definition.name}</strong> stay, and later ones may have any value.
              </p>
            </Confirm>
          )}
        >
          Remove
        </DialogButton>
      </span>
    )
}
