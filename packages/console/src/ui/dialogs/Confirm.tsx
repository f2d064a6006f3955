import { type UseMutationResult, useMutation, useQueryClient } from "@tanstack/react-query"
import { type ReactNode, useState } from "react"
import { Failure } from "../States.tsx"
import { useMe } from "../useMe.ts"
import { Overlay } from "./Overlay.tsx"

interface FormDialogProps {
  readonly title: string
  readonly button: string
  /** Title of the error: "The policy could not be removed". */
  readonly fault: string
  readonly children: ReactNode
  readonly onClose: () => void
  readonly change: Pick<UseMutationResult<unknown, Error, void>, "error" | "isPending" | "mutate">
  /** False while the fields cannot be submitted. */
  readonly isReady?: boolean
  readonly isHarmful?: boolean
}

/** A dialog with a form: its fields, the error of the last attempt, and the buttons. */
export const FormDialog = ({
  button,
  change,
  children,
  fault,
  isHarmful = false,
  isReady = true,
  onClose,
  title
}: FormDialogProps) => (
  <Overlay open onClose={onClose} title={title}>
    <form
      className="flex flex-col gap-3 p-4"
      onSubmit={(event) => {
        event.preventDefault()
        if (isReady) change.mutate()
      }}
    >
      {children}
      {change.error === null ? null : <Failure what={fault} error={change.error} />}
      <div className="flex justify-end gap-2">
        <button type="button" className="btn" onClick={onClose}>
          Dismiss
        </button>
        <button
          type="submit"
          className={`btn ${isHarmful ? "btn-bad" : "btn-main"}`}
          disabled={!isReady || change.isPending}
        >
          {change.isPending ? "Working…" : button}
        </button>
      </div>
    </form>
  </Overlay>
)

interface ConfirmProps extends Omit<FormDialogProps, "change" | "isReady"> {
  readonly act: () => Promise<unknown>
  /** Keys of the queries that are read again afterwards. */
  readonly renews: ReadonlyArray<ReadonlyArray<unknown>>
}

/** Confirms a change: its effect and the caller. */
export const Confirm = ({ act, children, renews, ...dialog }: ConfirmProps) => {
  const me = useMe()
  const change = useChange(act, renews, dialog.onClose)
  return (
    <FormDialog {...dialog} change={change}>
      {children}
      <p className="text-muted">Done as {me === undefined ? "…" : `${me.name} (${me.role})`}</p>
    </FormDialog>
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
