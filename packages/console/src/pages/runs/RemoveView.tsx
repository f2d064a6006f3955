import type { View } from "@runplane/api"
import { X } from "lucide-react"
import { call } from "../../client/Client.ts"
import { useChange } from "../../ui/dialogs/Confirm.tsx"

/** The button that removes a saved view; it loads after the list. */
export default function RemoveView({ view: { id, name } }: { readonly view: View }) {
  const remove = useChange(
    () => call((api) => api.views.remove({ params: { id } })),
    [["views"]],
    () => {}
  )
  return (
    <button
      type="button"
      aria-label={`Remove the view ${name}`}
      title={remove.isError ? remove.error.message : `Remove the view ${name}`}
      className={`-ml-1 rounded p-0.5 ${remove.isError ? "text-bad" : "text-muted hover:text-bad"}`}
      onClick={() => remove.mutate()}
    >
      <X size={12} aria-hidden />
    </button>
  )
}
