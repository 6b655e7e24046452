// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * In what context a waker woke (chain-semantics, section 3), told from its kernel stack: B runs on
 * CPU 0 and A is woken there, 800 us after it fell asleep.
 */
#include "test.h"
#include <stdio.h>

#include "synth_script.h"

static void woken_by(const char *who, const char *stack, const char *expected)
{
	char script[4096], line[4096];
	struct options o;

	options_init(&o);
	o.tids = (struct id_list) { (uint32_t[]) { 101 }, 1 };
	snprintf(script, sizeof(script),
		 "0   c0 - R > %s\n"
		 "100 c1 A S > - recv\n"
		 "900 c0 %s wakes A %s\n"
		 "900 c1 - R > A\n"
		 "end 1000\n",
		 who, who, stack);
	snprintf(line, sizeof(line), "A;recv;--;%s 800\n", expected);
	expect_text(script_folded(script, &o), line);
}

TEST(a_task)
{
	woken_by("B", "wake;futex_wake;do_syscall_64;entry_SYSCALL_64_after_hwframe|unlock;main",
		 "wake;futex_wake;do_syscall_64;entry_SYSCALL_64_after_hwframe;-;unlock;main;B;"
		 "[running]");
	/* An exception is the thread's own doing. */
	woken_by("B", "wake;handle_fault;exc_page_fault;asm_exc_page_fault|main",
		 "wake;handle_fault;exc_page_fault;asm_exc_page_fault;-;main;B;[running]");
}

TEST(a_thread_on_its_way_back_from_an_interrupt)
{
	/* It was interrupted, but the interrupt is over: it is the thread that dies of a signal. */
	woken_by("B",
		 "wake;do_exit;get_signal;arch_do_signal_or_restart;irqentry_exit_to_user_mode;"
		 "asm_sysvec_reschedule_ipi|main",
		 "wake;do_exit;get_signal;arch_do_signal_or_restart;irqentry_exit_to_user_mode;"
		 "asm_sysvec_reschedule_ipi;-;main;B;[running]");
}

TEST(a_device_interrupt)
{
	woken_by("B", "wake;bio_done;common_interrupt;asm_common_interrupt;compute|main",
		 "wake;bio_done;common_interrupt;asm_common_interrupt;[interrupt]");
}

TEST(a_timer_interrupt)
{
	woken_by("B",
		 "wake;hrtimer_wakeup;hrtimer_interrupt;sysvec_apic_timer_interrupt;"
		 "asm_sysvec_apic_timer_interrupt;compute",
		 "wake;hrtimer_wakeup;hrtimer_interrupt;sysvec_apic_timer_interrupt;"
		 "asm_sysvec_apic_timer_interrupt;[timer]");
}

TEST(a_softirq_on_the_way_out)
{
	woken_by("B",
		 "wake;net_rx_action;handle_softirqs;__irq_exit_rcu;common_interrupt;"
		 "asm_common_interrupt|main",
		 "wake;net_rx_action;handle_softirqs;__irq_exit_rcu;common_interrupt;"
		 "asm_common_interrupt;[network]");
}

TEST(an_inline_softirq)
{
	woken_by("B",
		 "wake;tcp_rcv;handle_softirqs;do_softirq.part.0;__local_bh_enable_ip;tcp_sendmsg|"
		 "send;main",
		 "wake;tcp_rcv;handle_softirqs;do_softirq.part.0;__local_bh_enable_ip;tcp_sendmsg;"
		 "-;send;main;B;[running]");
}

TEST(an_inline_softirq_for_others)
{
	woken_by("B",
		 "wake;bio_done;blk_complete_reqs;handle_softirqs;do_softirq.part.0;"
		 "__local_bh_enable_ip;udp_sendmsg|send;main",
		 "wake;bio_done;blk_complete_reqs;handle_softirqs;do_softirq.part.0;[interrupt]");
	woken_by("B",
		 "wake;timeout;call_timer_fn;run_timer_softirq;handle_softirqs;do_softirq;"
		 "__local_bh_enable_ip;udp_sendmsg|send;main",
		 "wake;timeout;call_timer_fn;run_timer_softirq;handle_softirqs;do_softirq;[timer]");
	woken_by("B", "wake;free;rcu_do_batch;rcu_core;handle_softirqs;__local_bh_enable_ip;f|main",
		 "wake;free;rcu_do_batch;rcu_core;handle_softirqs;__local_bh_enable_ip;"
		 "[interrupt]");
	woken_by("B", "wake;f;tasklet_action_common.constprop.0;do_softirq;__local_bh_enable_ip;g",
		 "wake;f;tasklet_action_common.constprop.0;do_softirq;[interrupt]");
}

/* What a device brings, its driver's function receives; what the thread sent is queued on the CPU.
 */
TEST(an_inline_softirq_that_polls_a_device)
{
	woken_by("B",
		 "wake;tcp_rcv;napi_gro_receive;virtnet_poll;__napi_poll;net_rx_action;"
		 "handle_softirqs;do_softirq;__local_bh_enable_ip;__dev_queue_xmit;send|main",
		 "wake;tcp_rcv;napi_gro_receive;virtnet_poll;__napi_poll;net_rx_action;"
		 "handle_softirqs;do_softirq;[network]");
	/* As before 5.13, where net_rx_action() calls it itself. */
	woken_by("B",
		 "wake;tcp_rcv;netif_receive_skb_list_internal;e1000_clean;net_rx_action;"
		 "__local_bh_enable_ip;tcp_recvmsg|main",
		 "wake;tcp_rcv;netif_receive_skb_list_internal;e1000_clean;net_rx_action;"
		 "__local_bh_enable_ip;[network]");
	woken_by("B",
		 "wake;tcp_rcv;process_backlog;__napi_poll;net_rx_action;__local_bh_enable_ip;"
		 "__dev_queue_xmit|main",
		 "wake;tcp_rcv;process_backlog;__napi_poll;net_rx_action;__local_bh_enable_ip;"
		 "__dev_queue_xmit;-;main;B;[running]");
	woken_by("B",
		 "wake;tcp_rcv;netif_receive_skb_list_internal;napi_gro_flush;veth_poll;"
		 "__napi_poll;net_rx_action;__local_bh_enable_ip;__dev_queue_xmit|main",
		 "wake;tcp_rcv;netif_receive_skb_list_internal;napi_gro_flush;veth_poll;"
		 "__napi_poll;net_rx_action;__local_bh_enable_ip;__dev_queue_xmit;-;main;B;"
		 "[running]");
}

TEST(an_interrupt_that_hit_an_inline_softirq)
{
	woken_by("B",
		 "wake;bio_done;asm_common_interrupt;tcp_rcv;do_softirq;__local_bh_enable_ip;"
		 "tcp_sendmsg|main",
		 "wake;bio_done;asm_common_interrupt;[interrupt]");
}

TEST(an_inline_softirq_above_an_old_entry)
{
	/* What is nearest to the leaf decides. */
	woken_by("B", "wake;tcp_rcv;do_softirq;__local_bh_enable_ip;x;asm_sysvec_x",
		 "wake;tcp_rcv;do_softirq;__local_bh_enable_ip;x;asm_sysvec_x;B;[running]");
}

TEST(arm64_entries)
{
	woken_by("B", "wake;gic_handle_irq;el1_interrupt;el1h_64_irq_handler;el1h_64_irq;compute",
		 "wake;gic_handle_irq;el1_interrupt;el1h_64_irq_handler;el1h_64_irq;[interrupt]");
	woken_by("B", "wake;gic_handle_irq;el0_irq|main",
		 "wake;gic_handle_irq;el0_irq;[interrupt]");
}

TEST(a_function_that_only_sounds_like_an_entry)
{
	woken_by("B", "wake;do_softirq_own_business;common_interrupt_stats;main",
		 "wake;do_softirq_own_business;common_interrupt_stats;main;B;[running]");
}

TEST(the_idle_loop_is_never_a_cause)
{
	woken_by("-", "wake;bio_done;asm_common_interrupt;mwait_idle;do_idle;cpu_startup_entry",
		 "wake;bio_done;asm_common_interrupt;[interrupt]");
	woken_by("-", "wake;flush_smp_call_function_queue;do_idle;cpu_startup_entry",
		 "wake;flush_smp_call_function_queue;[interrupt]");
	woken_by("-", "wake;tcp_rcv;do_softirq;flush_smp_call_function_queue;do_idle",
		 "wake;tcp_rcv;do_softirq;flush_smp_call_function_queue;[interrupt]");
	woken_by("-", "", "[unknown stack];[interrupt]");
}

TEST(a_cut_stack_is_still_an_interrupt)
{
	woken_by("B", "+wake;bio_done;asm_common_interrupt;f;g;h",
		 "wake;bio_done;asm_common_interrupt;[interrupt]");
}

TEST(ksoftirqd_is_a_thread_unless_it_receives)
{
	woken_by("B", "wake;rcu_do_batch;handle_softirqs;run_ksoftirqd;smpboot_thread_fn;kthread",
		 "wake;rcu_do_batch;handle_softirqs;run_ksoftirqd;smpboot_thread_fn;kthread;B;"
		 "[running]");
	woken_by("B", "wake;net_rx_action;handle_softirqs;run_ksoftirqd;smpboot_thread_fn;kthread",
		 "wake;net_rx_action;handle_softirqs;run_ksoftirqd;[network]");
}

TEST(a_thread_that_handles_interrupts)
{
	/* Each has the whole stack; no interrupt was entered. */
	woken_by("B",
		 "wake;tty_flip;__handle_irq_event_percpu;handle_irq_event;handle_edge_irq;"
		 "resend_irqs;tasklet_action_common;handle_softirqs;run_ksoftirqd;"
		 "smpboot_thread_fn;kthread;ret_from_fork;ret_from_fork_asm",
		 "wake;tty_flip;__handle_irq_event_percpu;handle_irq_event;handle_edge_irq;"
		 "resend_irqs;tasklet_action_common;handle_softirqs;run_ksoftirqd;"
		 "smpboot_thread_fn;kthread;ret_from_fork;ret_from_fork_asm;B;[running]");
	woken_by("B", "wake;f;handle_irq_event;generic_handle_irq;irq_thread_fn;irq_thread;kthread",
		 "wake;f;handle_irq_event;generic_handle_irq;irq_thread_fn;irq_thread;kthread;B;"
		 "[running]");
	/* An interrupt that hit it is none of its business. */
	woken_by("B",
		 "wake;f;handle_irq_event;asm_common_interrupt;handle_irq_event;irq_thread;"
		 "kthread;ret_from_fork",
		 "wake;f;handle_irq_event;asm_common_interrupt;[interrupt]");
	woken_by("B", "wake;f;hrtimer_interrupt;an_unknown_entry;irq_thread;kthread;ret_from_fork",
		 "wake;f;hrtimer_interrupt;[timer]");
	/* Where the root is missing, it is not known whose stack it is. */
	woken_by("B", "+wake;f;handle_irq_event;generic_handle_irq;g",
		 "wake;f;handle_irq_event;generic_handle_irq;g;[interrupt]");
	woken_by("B", "wake;f;handle_irq_event;an_unknown_entry;compute|main",
		 "wake;f;handle_irq_event;[interrupt]");
}
