import { type UseMutationResult, useMutation, useQueryClient } from "@tanstack/react-query"
import { type ReactNode, useState } from "react"
import { Overlay } from "./Overlay.tsx"
import { Failure } from "./States.tsx"
import { useMe } from "./useMe.ts"

interface ConfirmProps {
  readonly title: string
  readonly button: string
  /** Title of the error: "The policy could not be removed". */
  readonly fault: string
  readonly children: ReactNode
  readonly onClose: () => void
  readonly act: () => Promise<unknown>
  /** Keys of the queries that are read again afterwards. */
  readonly renews: ReadonlyArray<ReadonlyArray<unknown>>
  readonly isHarmful?: boolean
}

/** Confirms a change: its effect and the caller. */
export const Confirm = ({ act, button, children, fault, isHarmful = false, onClose, renews, title }: ConfirmProps) => {
  const me = useMe()
  const change = useChange(act, renews, onClose)
  return (
    <Overlay open onClose={onClose} title={title}>
      <form
        className="flex flex-col gap-3 p-4"
        onSubmit={(event) => {
          event.preventDefault()
          change.mutate()
        }}
      >
        {children}
        <p className="text-muted">Done as {me === undefined ? "…" : `${me.name} (${me.role})`}</p>
        {change.isError ? <Failure what={fault} error={change.error} /> : null}
        <div className="flex justify-end gap-2">
          <button type="button" className="btn" onClick={onClose}>
            Dismiss
          </button>
          <button type="submit" className={`btn ${isHarmful ? "btn-bad" : "btn-main"}`} disabled={change.isPending}>
            {change.isPending ? "Working…" : button}
          </button>
        </div>
      </form>
    </Overlay>
  )
}

/** A change, after which the given queries are read again. */
export const useChange = <A,>(
  act: () => Promise<A>,
  renews: ReadonlyArray<ReadonlyArray<unknown>>,
  onDone: (answer: A) => void
): UseMutationResult<A, Error, void> => {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: act,
    onSuccess: async (answer) => {
      await Promise.all(renews.map((queryKey) => queries.invalidateQueries({ queryKey })))
      onDone(answer)
    }
  })
}

/** A button that opens a dialog over the page. */
export const DialogButton = ({
  children,
  className = "btn",
  dialog,
  disabled = false,
  title
}: {
  readonly children: ReactNode
  readonly className?: string
  readonly disabled?: boolean
  readonly title?: string
  readonly dialog: (close: () => void) => ReactNode
}) => {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button
        type="button"
        className={className}
        disabled={disabled}
        title={title}
        onClick={(event) => {
          event.stopPropagation()
          setOpen(true)
        }}
      >
        {children}
      </button>
      {isOpen ? dialog(() => setOpen(false)) : null}
    </>
  )
}
