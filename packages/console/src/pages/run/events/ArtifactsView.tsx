import { useQuery } from "@tanstack/react-query"
import { useMemo } from "react"
import { callRuns } from "../../../client/Client.ts"
import { Chip, Id, Time, UserText } from "../../../ui/basics.tsx"
import JsonTree from "../../../ui/json/JsonTree.tsx"
import { Empty, Failure, Skeleton, Stale } from "../../../ui/States.tsx"
import type { RunViewProps } from "../useShown.ts"

/** Documents and links that were added to the run up to the index that is shown. */
export default function ArtifactsView({ set, shown }: RunViewProps) {
  const added = useMemo(
    () =>
      new Map(
        shown.events.flatMap((event) =>
          event.type === "artifact.created" ? [[event.data.artifactId, event.index] as const] : []
        )
      ),
    [shown.events]
  )
  const artifacts = useQuery({
    queryKey: ["artifacts", shown.run.id, added.size],
    queryFn: ({ signal }) => callRuns((api) => api.runs.artifacts({ params: { id: shown.run.id } }), signal)
  })
  if (artifacts.data === undefined) {
    return artifacts.isError ? (
      <Failure what="The artifacts cannot be read" error={artifacts.error} retry={() => void artifacts.refetch()} />
    ) : (
      <Skeleton rows={4} height={56} />
    )
  }
  const there = artifacts.data.filter(({ id }) => shown.isNow || added.has(id))
  return (
    <div tabIndex={0} className="h-full overflow-auto">
      {artifacts.isError ? (
        <Stale since={artifacts.dataUpdatedAt} error={artifacts.error} retry={() => void artifacts.refetch()} />
      ) : null}
      {there.length === 0 ? <Empty title="No artifacts yet" /> : null}
      <ul className="mx-auto flex max-w-[900px] flex-col gap-3 p-4">
        {there.map(({ createdAt, id, inline, inlineOmitted, kind, label, uri }) => {
          const index = added.get(id)
          return (
            <li key={id} className="panel p-4" data-artifact={id}>
              <p className="flex flex-wrap items-baseline gap-x-3 gap-y-1">
                <UserText text={label} className="font-semibold" />
                <Chip>{kind}</Chip>
                <Id id={id} label="artifact id" />
                <Time at={createdAt} className="text-muted" />
                {index === undefined ? null : (
                  <button type="button" className="num text-accent underline" onClick={() => set({ event: index })}>
                    event {index}
                  </button>
                )}
              </p>
              {uri === undefined ? null : (
                <p className="mt-1">
                  <Id id={uri} label="address" edge={40} />
                </p>
              )}
              {inlineOmitted === true ? (
                <p className="mt-1 text-muted">The archive does not have its content.</p>
              ) : null}
              {inline === undefined ? null : (
                <div className="mt-2 overflow-auto">
                  <JsonTree value={inline} />
                </div>
              )}
            </li>
          )
        })}
      </ul>
    </div>
  )
}
