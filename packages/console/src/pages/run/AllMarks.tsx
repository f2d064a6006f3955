import { useState } from "react"
import { Overlay } from "../../ui/dialogs/Overlay.tsx"
import { Loaded } from "../../ui/kit.tsx"
import { MarkList } from "../../ui/marks/MarkList.tsx"
import type { ShownMarks } from "../../ui/marks/MarksHere.ts"
import { useMarkHistory } from "../../ui/marks/useMarks.ts"
import { whole } from "../../view/format/Format.ts"

/** All marks of a run; with the replaced and the deleted ones on demand. */
export default function AllMarks({ onClose, shown }: { readonly shown: ShownMarks; readonly onClose: () => void }) {
  const [hasHistory, setHistory] = useState(false)
  const history = useMarkHistory(shown.runId, hasHistory)
  const { marks, total } = shown
  return (
    <Overlay open form="side" onClose={onClose} title="Marks of the run">
      <div className="flex flex-col gap-2 p-4">
        <label className="flex items-center gap-2">
          <input type="checkbox" checked={hasHistory} onChange={({ target }) => setHistory(target.checked)} />
          Replaced and deleted marks too
        </label>
        {hasHistory ? (
          <Loaded read={history} what="The history of the marks cannot be read">
            {({ marks: all }) => <MarkList marks={all} shown={shown} />}
          </Loaded>
        ) : (
          <MarkList marks={marks} shown={shown} />
        )}
        {total > marks.length && !hasHistory ? (
          <p className="text-muted">
            The newest {whole(marks.length)} of {whole(total)}.
          </p>
        ) : null}
      </div>
    </Overlay>
  )
}
