"""The peers of scripts/bench-peers: each answers a task with an epsilon, or with a noise multiplier.

A task is a list of (count, kind, parameter, q): kind is gaussian, laplace or rr, q the rate of Poisson sampling. An
accountant returns None where it has no such mechanism.
"""

import math
import sys
import types
import warnings
from importlib.util import find_spec

warnings.filterwarnings("ignore")  # autodp divides by zero on the way

import dp_accounting as dp
from autodp import calibrator_zoo, mechanism_zoo, transformer_zoo
from dp_accounting import pld, rdp
from dp_accounting.pld import privacy_loss_distribution
from prv_accountant import (GaussianMechanism, LaplaceMechanism, PoissonSubsampledGaussianMechanism, PRVAccountant,
                            PureDPMechanism)


def opacus_accountants():
    """opacus.accountants without opacus itself, which needs torch."""
    package = types.ModuleType("opacus")
    package.__path__ = list(find_spec("opacus").submodule_search_locations)
    optimizers = types.ModuleType("opacus.optimizers")
    optimizers.DPOptimizer = object
    sys.modules.update({"opacus": package, "opacus.optimizers": optimizers})
    import opacus.accountants
    import opacus.accountants.utils

    return opacus.accountants


OPACUS = opacus_accountants()
RELATION = dp.NeighboringRelation


def dp_event(kind, parameter, q):
    if kind == "gaussian":
        event = dp.GaussianDpEvent(parameter)
    elif kind == "laplace":
        event = dp.LaplaceDpEvent(parameter)
    else:
        # Its noise parameter is the probability of a uniformly random answer.
        event = dp.RandomizedResponseDpEvent(2.0 * (1.0 - parameter), 2)
    return event if q == 1.0 else dp.PoissonSampledDpEvent(q, event)


def dp_accounting_rdp(events, delta):
    # Randomized response needs REPLACE_ONE, sampling the other relation; the other curves are the same.
    sampled = any(q < 1.0 for _, _, _, q in events)
    relation = RELATION.ADD_OR_REMOVE_ONE if sampled else RELATION.REPLACE_ONE
    accountant = rdp.RdpAccountant(neighboring_relation=relation)
    for count, kind, parameter, q in events:
        accountant.compose(dp_event(kind, parameter, q), count)
    return accountant.get_epsilon(delta)


def dp_accounting_pld(interval):
    def account(events, delta):
        if all(kind != "rr" for _, kind, _, _ in events):
            accountant = pld.PLDAccountant(value_discretization_interval=interval)
            for count, kind, parameter, q in events:
                accountant.compose(dp_event(kind, parameter, q), count)
            return accountant.get_epsilon(delta)
        # The accountant ignores the count of randomized response and does not
        # compose it with noise; its PLD classes do both.
        total = None
        for count, kind, parameter, _ in events:
            make, first = {
                "gaussian": (privacy_loss_distribution.from_gaussian_mechanism, [parameter]),
                "laplace": (privacy_loss_distribution.from_laplace_mechanism, [parameter]),
                "rr": (privacy_loss_distribution.from_randomized_response, [2.0 * (1.0 - parameter), 2]),
            }[kind]
            one = make(*first, value_discretization_interval=interval)
            many = one if count == 1 else one.self_compose(count)
            total = many if total is None else total.compose(many)
        return total.get_epsilon_for_delta(delta)

    return account


def prv_accountant(events, delta):
    def variable(kind, parameter, q):
        if q < 1.0:
            return PoissonSubsampledGaussianMechanism(q, parameter) if kind == "gaussian" else None
        if kind == "gaussian":
            return GaussianMechanism(parameter)
        return LaplaceMechanism(1 / parameter) if kind == "laplace" else PureDPMechanism(
            math.log(parameter / (1 - parameter)))

    variables = [variable(kind, parameter, q) for _, kind, parameter, q in events]
    if None in variables:
        return None
    counts = [count for count, _, _, _ in events]
    accountant = PRVAccountant(variables, eps_error=0.01, delta_error=delta / 1000, max_self_compositions=counts)
    low, _, high = accountant.compute_epsilon(delta, counts)
    return low, high


def opacus(name):
    def account(events, delta):
        if any(kind != "gaussian" for _, kind, _, _ in events):
            return None
        accountant = OPACUS.create_accountant(name)
        accountant.history = [(sigma, q, count) for count, _, sigma, q in events]
        return accountant.get_epsilon(delta)

    return account


def autodp_mechanism(kind, parameter, q):
    if kind == "gaussian":
        mechanism = mechanism_zoo.GaussianMechanism(parameter, approxDP_off=True)
    elif kind == "laplace":
        mechanism = mechanism_zoo.LaplaceMechanism(parameter)
    else:
        mechanism = mechanism_zoo.RandresponseMechanism(parameter)
    if q == 1.0:
        return mechanism
    mechanism.neighboring = "add_remove"
    return transformer_zoo.AmplificationBySampling(PoissonSampling=True)(mechanism, q, improved_bound_flag=True)


def autodp_rdp(events, delta):
    mechanisms = [autodp_mechanism(kind, parameter, q) for _, kind, parameter, q in events]
    return transformer_zoo.Composition()(mechanisms, [count for count, _, _, _ in events]).get_approxDP(delta)


PEERS = {
    "dp_accounting PLD 1e-4": dp_accounting_pld(1e-4),
    "dp_accounting RDP": dp_accounting_rdp,
    "prv_accountant 0.01": prv_accountant,
    "opacus PRV 0.01": opacus("prv"),
    "opacus RDP": opacus("rdp"),
    "opacus GDP": opacus("gdp"),
    "autodp RDP": autodp_rdp,
}
# The coarsest of these within 1 % of the exact value is the fast setting of its accountant.
COARSE = {f"dp_accounting PLD {interval:g}": dp_accounting_pld(interval) for interval in (1e-2, 1e-3, 1e-4, 1e-5)}


def calibrate_dp_accounting(accountant):
    def calibrate(steps, q, epsilon, delta):
        event = lambda sigma: dp.SelfComposedDpEvent(dp.PoissonSampledDpEvent(q, dp.GaussianDpEvent(sigma)), steps)
        return dp.calibrate_dp_mechanism(accountant, event, epsilon, delta)

    return calibrate


def calibrate_opacus(name):
    return lambda steps, q, epsilon, delta: OPACUS.utils.get_noise_multiplier(
        target_epsilon=epsilon, target_delta=delta, sample_rate=q, steps=steps, accountant=name)


def calibrate_autodp(steps, q, epsilon, delta):
    def mechanism(parameters, name=None):
        sampled = autodp_mechanism("gaussian", parameters["sigma"], q)
        composed = transformer_zoo.Composition()([sampled], [steps])
        composed.params = {"sigma": parameters["sigma"]}
        return composed

    calibrator = calibrator_zoo.generalized_eps_delta_calibrator()
    return calibrator(mechanism, epsilon, delta, [0.5, 20.0], params={"sigma": None}, para_name="sigma").params["sigma"]


CALIBRATORS = {
    "dp_accounting PLD 1e-4": calibrate_dp_accounting(pld.PLDAccountant),
    "dp_accounting RDP": calibrate_dp_accounting(rdp.RdpAccountant),
    "opacus PRV 0.01": calibrate_opacus("prv"),
    "opacus RDP": calibrate_opacus("rdp"),
    "autodp RDP": calibrate_autodp,
}
