import { type Webhook, webhookEvents } from "@runplane/api"
import { useState } from "react"
import { call } from "../../client/Client.ts"
import { Id } from "../../ui/basics.tsx"
import { FormDialog, useChange } from "../../ui/dialogs/Confirm.tsx"
import { Overlay } from "../../ui/dialogs/Overlay.tsx"

const SECRET_BYTES = 32

/** A secret in the form of Standard Webhooks. */
const newSecret = () => `whsec_${btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(SECRET_BYTES))))}`

/** Adds an endpoint, or changes one. The secret of a new one is shown once, by the answer that creates it. */
export const WebhookForm = ({ onClose, webhook }: { readonly webhook?: Webhook; readonly onClose: () => void }) => {
  const [url, setUrl] = useState(webhook?.url ?? "")
  const [events, setEvents] = useState<ReadonlyArray<string>>(webhook?.events ?? [])
  const [secret, setSecret] = useState(() => (webhook === undefined ? newSecret() : ""))
  const [created, setCreated] = useState<Webhook>()
  const save = useChange(
    () =>
      webhook === undefined
        ? call((api) => api.webhooks.create({ payload: { url: url.trim(), events, secret } }))
        : call((api) =>
            api.webhooks.update({
              params: { id: webhook.id },
              payload: { url: url.trim(), events, ...(secret !== "" && { secret }) }
            })
          ),
    [["webhooks"]],
    (answer) => (webhook === undefined ? setCreated(answer) : onClose())
  )
  if (created !== undefined) {
    return (
      <Overlay open onClose={onClose} title="The endpoint was added">
        <div className="flex flex-col gap-3 p-4">
          <p>
            This is its secret. It signs every delivery and <strong>is not shown again</strong>: copy it to the receiver
            now.
          </p>
          <p className="panel bg-sunken p-3 wrap-anywhere" data-secret>
            <Id id={created.secret} edge={60} label="secret" />
          </p>
          <div className="flex justify-end">
            <button type="button" className="btn btn-main" onClick={onClose}>
              I have copied it
            </button>
          </div>
        </div>
      </Overlay>
    )
  }
  return (
    <FormDialog
      title={webhook === undefined ? "Add an endpoint" : "Change the endpoint"}
      button={webhook === undefined ? "Add" : "Save"}
      fault="The endpoint was not saved"
      change={save}
      onClose={onClose}
    >
      <label className="block">
        <span className="label">URL</span>
        <input
          autoFocus
          type="url"
          required
          className="field mt-1 w-full"
          placeholder="https://example.org/hooks/runs"
          value={url}
          onChange={({ target }) => setUrl(target.value)}
        />
      </label>
      <fieldset>
        <legend className="label">Events (none: all events)</legend>
        <div className="mt-1 grid grid-cols-2 gap-1">
          {webhookEvents.map((event) => (
            <label key={event} className="flex items-center gap-2 py-0.5">
              <input
                type="checkbox"
                checked={events.includes(event)}
                onChange={({ target }) =>
                  setEvents(target.checked ? [...events, event] : events.filter((other) => other !== event))
                }
              />
              <span className="font-mono text-[12px]">{event}</span>
            </label>
          ))}
        </div>
      </fieldset>
      <label className="block">
        <span className="label">{webhook === undefined ? "Secret" : "New secret (empty: no change)"}</span>
        <input
          required={webhook === undefined}
          autoComplete="off"
          spellCheck={false}
          className="field mt-1 w-full font-mono text-[12px]"
          value={secret}
          onChange={({ target }) => setSecret(target.value)}
        />
      </label>
    </FormDialog>
  )
}
