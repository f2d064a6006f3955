import { Chip, Id, UserText } from "../../ui/basics.tsx"
import { Facts, Loaded, Panel, Table } from "../../ui/kit.tsx"
import { useRead } from "../../ui/useRead.ts"
import { modeLabel } from "../../view/format/Format.ts"
import { LATER_MS } from "../../view/live/Polls.ts"
import { ReadAge } from "./ReadAge.tsx"

/** The runtime as it describes itself: manifest, modes and roots. */
export const RuntimeParts = () => {
  const manifest = useRead(["manifest"], (api) => api.runtime.manifest(), { everyMs: LATER_MS })
  const modes = useRead(["modes"], (api) => api.runtime.modes(), { everyMs: LATER_MS })
  const roots = useRead(["roots"], (api) => api.runtime.roots(), { everyMs: LATER_MS })
  return (
    <>
      <Panel title="Runtime" actions={<ReadAge read={manifest} />}>
        <Loaded read={manifest} what="The runtime's manifest cannot be read" rows={4}>
          {({ agentId, description, metadata, supportedModes, title }) => (
            <Facts
              facts={[
                ["Id", <Id key="id" id={agentId} edge={30} label="runtime id" />],
                ...(title === undefined ? [] : [["Name", <UserText key="name" text={title} />] as const]),
                ...(description === undefined ? [] : [["About", <UserText key="about" text={description} />] as const]),
                [
                  "Modes",
                  <span key="modes" className="flex flex-wrap gap-1">
                    {supportedModes.map((mode) => (
                      <Chip key={mode} title={mode}>
                        {modeLabel(mode)}
                      </Chip>
                    ))}
                  </span>
                ],
                ...Object.entries(metadata).map(
                  ([name, value]) => [name, <UserText key={name} text={value} />] as const
                )
              ]}
            />
          )}
        </Loaded>
        <h3 className="label border-t border-line px-3 pt-2">Roots</h3>
        <Loaded read={roots} what="The runtime's roots cannot be read" rows={1}>
          {(shown) =>
            shown.length === 0 ? (
              <p className="px-3 pt-1 pb-3 text-muted">The runtime has no roots.</p>
            ) : (
              <ul className="px-3 pt-1 pb-3">
                {shown.map(({ name, uri }) => (
                  <li key={uri}>
                    {name === undefined ? null : <UserText text={`${name}: `} />}
                    <UserText text={uri} className="font-mono text-[12px]" />
                  </li>
                ))}
              </ul>
            )
          }
        </Loaded>
      </Panel>
      <Panel title="Modes" className="xl:col-span-2" actions={<ReadAge read={modes} />}>
        <Loaded read={modes} what="The runtime's modes cannot be read" rows={5}>
          {(shown) => (
            <Table
              label="Modes"
              rows={shown}
              keyOf={({ mode, modeVersion }) => `${mode} ${modeVersion}`}
              columns={[
                {
                  title: "Mode",
                  cell: ({ description, mode, title }) => (
                    <span title={mode}>
                      <UserText text={title ?? modeLabel(mode)} className="font-medium" />
                      {description === undefined ? null : (
                        <span className="block text-[12px] text-soft">
                          <UserText text={description} />
                        </span>
                      )}
                    </span>
                  )
                },
                { title: "Version", cell: ({ modeVersion }) => <span className="num">{modeVersion}</span> },
                {
                  title: "Participants",
                  from: "lg",
                  cell: ({ participantModel }) => participantModel ?? <span className="text-muted">–</span>
                },
                {
                  title: "Messages",
                  from: "sm",
                  cell: ({ messageTypes, terminalMessageTypes }) => (
                    <span className="flex flex-wrap gap-1">
                      {messageTypes.map((type) => (
                        <Chip key={type} tone={terminalMessageTypes.includes(type) ? "accent" : "calm"}>
                          {type}
                        </Chip>
                      ))}
                    </span>
                  )
                }
              ]}
            />
          )}
        </Loaded>
      </Panel>
    </>
  )
}
