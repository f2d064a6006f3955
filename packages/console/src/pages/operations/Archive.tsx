import type { ArchiveReport } from "@runplane/api"
import { Time, UserText } from "../../ui/basics.tsx"
import { Facts, Loaded, Panel } from "../../ui/kit.tsx"
import { useRead } from "../../ui/useRead.ts"
import { counted, duration, whole } from "../../view/format/Format.ts"
import { LATER_MS } from "../../view/live/Polls.ts"
import { bytesText } from "../../view/operations/SpanInbox.ts"
import { Check } from "./Check.tsx"
import { ReadAge } from "./ReadAge.tsx"

type State = NonNullable<ArchiveReport["archive"]>

/** The archive: whether files are written, how far it is behind, and what it has. Nothing without an archive. */
export const Archive = () => {
  const read = useRead(["archive"], (api) => api.admin.archive(), { everyMs: LATER_MS })
  if (read.data?.archive === null || (read.data === undefined && !read.isError)) return null
  return (
    <Panel title="Archive" note={read.data?.archive.cell} actions={<ReadAge read={read} />}>
      <Loaded read={read} what="The archive cannot be read" rows={4}>
        {({ archive }) => (archive === null ? null : <ArchiveFacts archive={archive} />)}
      </Loaded>
    </Panel>
  )
}

const ArchiveFacts = ({ archive }: { readonly archive: State }) => {
  const { failure, lagEvents, lagSeconds, lastFile, retentionWaits, tables, url, waitingChanges } = archive
  const files = tables.reduce((sum, table) => sum + table.files, 0)
  const bytes = tables.reduce((sum, table) => sum + table.bytes, 0)
  return (
    <Facts
      facts={[
        [
          "Writing",
          <Check
            key="writing"
            ok={failure === null}
            text={failure === null ? "files are written" : `${failure.kind}: ${failure.message}`}
          />
        ],
        ...(failure === null ? [] : [["Failing since", <Time key="since" at={failure.since} />] as const]),
        ["Where", <UserText key="url" text={url} className="font-mono text-[12px] wrap-anywhere" />],
        [
          "Lag",
          <span key="lag" className="num">
            {lagEvents === 0 ? "none" : `${counted(lagEvents, "event", "events")}, ${duration(lagSeconds * 1_000)}`}
          </span>
        ],
        [
          "Waiting changes",
          <span key="changes" className="num">
            {whole(waitingChanges)}
          </span>
        ],
        ...(retentionWaits === null
          ? []
          : [
              [
                "Retention waits for",
                <span key="retention" className={`num ${retentionWaits > 0 ? "font-medium text-warn" : ""}`}>
                  {counted(retentionWaits, "run", "runs")}
                </span>
              ] as const
            ]),
        [
          "Size",
          <span key="size" className="num">
            {counted(files, "file", "files")}, {bytesText(bytes)}
          </span>
        ],
        [
          "Last file",
          lastFile === null ? (
            "none"
          ) : (
            <span key="last" className="wrap-anywhere">
              <Time at={lastFile.writtenAt} />, {counted(lastFile.rows, "row", "rows")}, {bytesText(lastFile.bytes)}
            </span>
          )
        ]
      ]}
    />
  )
}
