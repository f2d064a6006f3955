import { useState } from "react"
import { Chip, Time } from "../../ui/basics.tsx"
import { Facts, Loaded, Panel, Table } from "../../ui/kit.tsx"
import { Empty } from "../../ui/States.tsx"
import { useRead } from "../../ui/useRead.ts"
import { counted, whole } from "../../view/format/Format.ts"
import { LATER_MS } from "../../view/live/Polls.ts"
import { ReadAge } from "./ReadAge.tsx"

/** The process that answers, its retention, and all settings. Secrets are masked. */
export const ProcessParts = () => {
  const [words, setWords] = useState("")
  const [onlySet, setOnlySet] = useState(false)
  const info = useRead(["process"], (api) => api.admin.process(), { everyMs: LATER_MS })
  const settings = info.data?.settings ?? []
  const retention = settings.filter(({ name }) => /RETENTION|_DAYS$/.test(name))
  const wanted = words.trim().toLowerCase()
  const shown = settings.filter(
    ({ isDefault, meaning, name }) =>
      !(onlySet && isDefault) && (wanted === "" || `${name} ${meaning}`.toLowerCase().includes(wanted))
  )
  return (
    <>
      <Panel title="This process" note="it answered this request" actions={<ReadAge read={info} />}>
        <Loaded read={info} what="The process cannot be read" rows={3}>
          {({ observedRuns, startedAt, version }) => (
            <Facts
              facts={[
                ["Version", version],
                ["Started", <Time key="started" at={startedAt} />],
                [
                  "Observes",
                  <span key="runs" className="num">
                    {counted(observedRuns, "run")}
                  </span>
                ]
              ]}
            />
          )}
        </Loaded>
      </Panel>
      <Panel title="Retention" actions={<ReadAge read={info} />}>
        <Loaded read={info} what="The settings cannot be read" rows={3}>
          {() =>
            retention.length === 0 ? (
              <p className="p-3 text-muted">Retention has no settings.</p>
            ) : (
              <Facts
                facts={retention.map(({ meaning, name, value }) => [
                  name,
                  <span key={name}>
                    <span className="num font-medium">{value === "" ? "not set" : value}</span>
                    <span className="block text-[12px] text-soft">{meaning}</span>
                  </span>
                ])}
              />
            )
          }
        </Loaded>
      </Panel>
      <Panel
        title="Configuration"
        note={info.data === undefined ? undefined : `${whole(shown.length)} of ${whole(settings.length)}`}
        className="xl:col-span-2"
        actions={
          <>
            <ReadAge read={info} />
            <label className="flex items-center gap-1.5">
              <input type="checkbox" checked={onlySet} onChange={({ target }) => setOnlySet(target.checked)} />
              Only changed settings
            </label>
            <label>
              <span className="sr-only">Search the settings</span>
              <input
                type="search"
                className="field w-[180px]"
                placeholder="Search"
                value={words}
                onChange={({ target }) => setWords(target.value)}
              />
            </label>
          </>
        }
      >
        <Loaded read={info} what="The settings cannot be read" rows={6}>
          {() =>
            shown.length === 0 ? (
              <Empty title="No setting matches">Clear the search.</Empty>
            ) : (
              <div className="max-h-[420px] overflow-auto" tabIndex={0} role="region" aria-label="All settings">
                <Table
                  label="Settings"
                  rows={shown}
                  keyOf={({ name }) => name}
                  columns={[
                    { title: "Setting", cell: ({ name }) => <span className="font-mono text-[12px]">{name}</span> },
                    {
                      title: "Value",
                      className: "max-w-[260px] wrap-anywhere",
                      cell: ({ isDefault, value }) => (
                        <span className="inline-flex flex-wrap items-center gap-1.5">
                          <span className={`font-mono text-[12px] ${isDefault ? "text-muted" : ""}`}>
                            {value === "" ? "–" : value}
                          </span>
                          {isDefault ? null : <Chip tone="accent">set</Chip>}
                        </span>
                      )
                    },
                    {
                      title: "Meaning",
                      from: "md",
                      cell: ({ meaning }) => <span className="text-soft">{meaning}</span>
                    }
                  ]}
                />
              </div>
            )
          }
        </Loaded>
      </Panel>
    </>
  )
}
