import type { Webhook } from "@runplane/api"
import { Pause, Pencil, Play, Send, Trash2 } from "lucide-react"
import { call } from "../../client/Client.ts"
import { UserText } from "../../ui/basics.tsx"
import { Confirm, DialogButton, useChange } from "../../ui/dialogs/Confirm.tsx"
import { Failure } from "../../ui/States.tsx"
import { WebhookForm } from "./WebhookForm.tsx"

/** Actions on an endpoint. */
export const WebhookActions = ({ onGone, webhook }: { readonly webhook: Webhook; readonly onGone: () => void }) => {
  const params = { id: webhook.id }
  const renews = [["webhooks"], ["deliveries", webhook.id]]
  const test = useChange(
    () => call((api) => api.webhooks.test({ params })),
    renews,
    () => {}
  )
  const toggle = useChange(
    () => call((api) => api.webhooks.update({ params, payload: { active: !webhook.active } })),
    renews,
    () => {}
  )
  const failed = test.isError ? test : toggle.isError ? toggle : undefined
  return (
    <div className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-2">
        <button
          type="button"
          className="btn"
          disabled={test.isPending || !webhook.active}
          title={webhook.active ? "Sends the event webhook.test" : "The endpoint is not active"}
          onClick={() => test.mutate()}
        >
          <Send size={14} aria-hidden /> {test.isPending ? "Sending…" : "Send a test"}
        </button>
        <button type="button" className="btn" disabled={toggle.isPending} onClick={() => toggle.mutate()}>
          {webhook.active ? <Pause size={14} aria-hidden /> : <Play size={14} aria-hidden />}
          {webhook.active ? "Stop deliveries" : "Resume deliveries"}
        </button>
        <DialogButton dialog={(close) => <WebhookForm webhook={webhook} onClose={close} />}>
          <Pencil size={14} aria-hidden /> Change
        </DialogButton>
        <DialogButton
          className="btn btn-bad"
          dialog={(close) => (
            <Confirm
              title="Remove this endpoint?"
              button="Remove the endpoint"
              fault="The endpoint could not be removed"
              isHarmful
              onClose={close}
              renews={[["webhooks"]]}
              act={() => call((api) => api.webhooks.remove({ params })).then(onGone)}
            >
              <p className="text-soft">
                <UserText text={webhook.url} /> receives no further events. Pending deliveries are dropped, and the list
                of deliveries is deleted.
              </p>
            </Confirm>
          )}
        >
          <Trash2 size={14} aria-hidden /> Remove
        </DialogButton>
        <span role="status" className="text-soft">
          {test.isSuccess ? "The test is being delivered: it is the first delivery below." : ""}
        </span>
      </div>
      {failed === undefined ? null : <Failure what="The change failed" error={failed.error} />}
    </div>
  )
}
